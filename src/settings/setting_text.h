#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "drift/enum_words.h"
#include "drift/read_observations.h"
#include "drift/run_settings.h"

namespace drift {

// A setting's value as TOML; empty for an optional one that is.
struct TomlText {
  std::string operator()(const std::string& value) const;  // quoted and escaped
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const Range& range) const { return fmt::format("[{}, {}]", range.low, range.high); }
  std::string operator()(const std::array<double, 4>& box) const {
    return fmt::format("[{}, {}, {}, {}]", box[0], box[1], box[2], box[3]);
  }
  std::string operator()(const FitChoice& choice) const { return (*this)(text_of(choice)); }
  template <class Number>
  requires std::is_arithmetic_v<Number> std::string operator()(Number value) const { return fmt::format("{}", value); }
  template <EnumWithWords E>
  std::string operator()(E value) const {
    return (*this)(std::string(word_of(value)));
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text;
    for (const T& value : values) text += (text.empty() ? "" : ", ") + (*this)(value);
    return "[" + text + "]";
  }
  template <class T>
  std::string operator()(const std::optional<T>& value) const {
    return value ? (*this)(*value) : "";
  }
};

}  // namespace drift
