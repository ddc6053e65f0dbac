#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drift/enum_words.h"
#include "drift/error.h"

namespace drift {

// JSON for plain structs, both ways from one list of their fields. A struct T takes part when namespace drift has
//   template <class Self> requires ConstOrNot<Self, T>
//   void visit_fields(Self& self, auto&& field) { field("features", self.features); ... }
// and an enum when it has words (drift/enum_words.h).
// Reading is strict: each key must be there unless it is optional (if_any), none may be unknown, and each value must have its
// field's type.

template <class Self, class T>
concept ConstOrNot = std::same_as<std::remove_const_t<Self>, T>;

template <class T>
concept HasFields = requires(const T& value) {
  visit_fields(value, [](const char*, const auto&) {});
};

// field("provenance", if_any(self.provenance)): a key that files of earlier versions lack, and that is left out where the field
// has its type's default.
template <class T>
struct IfAny {
  T& field;
};
template <class T>
IfAny<T> if_any(T& field) {
  return {field};
}

template <class Field>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<IfAny<T>> = true;

template <class T>
nlohmann::ordered_json write_json(const T& value) {
  if constexpr (HasFields<T>) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    visit_fields(value, [&]<class Field>(const char* key, const Field& field) {
      if constexpr (kIsOptional<Field>) {
        if (field.field != std::remove_cvref_t<decltype(field.field)>()) object[key] = write_json(field.field);
      } else {
        object[key] = write_json(field);
      }
    });
    return object;
  } else if constexpr (std::is_enum_v<T>) {
    const std::string_view word = word_of(value);
    if (word.empty()) throw Error(fmt::format("an enumerator has no word: {}", static_cast<int>(value)));
    return word;
  } else if constexpr (std::same_as<T, std::optional<double>>) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  } else {
    return value;
  }
}

class JsonReader {
 public:
  explicit JsonReader(std::string subject) : subject_(std::move(subject)) {}  // "network spec": heads each message

  // Throws Error unless `text` is JSON and fits T.
  template <HasFields T>
  T parse(const std::string& text) const {
    const Json json = parse_text(text);
    T value;
    read(json, "", value);
    return value;
  }

 private:
  using Json = nlohmann::json;

  Json parse_text(const std::string& text) const;
  void check_keys(const Json& json, const std::string& where, std::span<const std::string_view> known,
                  std::span<const std::string_view> needed) const;
  [[noreturn]] void refuse(const std::string& where, const char* wanted, const Json& json) const;

  template <HasFields T>
  void read(const Json& json, const std::string& where, T& value) const {
    if (!json.is_object()) refuse(where, "an object", json);
    std::vector<std::string_view> known;
    std::vector<std::string_view> needed;
    visit_fields(value, [&]<class Field>(const char* key, Field&&) {
      known.emplace_back(key);
      if (!kIsOptional<std::remove_cvref_t<Field>>) needed.emplace_back(key);
    });
    check_keys(json, where, known, needed);
    visit_fields(value, [&]<class Field>(const char* key, Field&& field) {
      const std::string inside = where.empty() ? key : where + "." + key;
      if constexpr (!kIsOptional<std::remove_cvref_t<Field>>) {
        read(json.find(key).value(), inside, field);
      } else if (json.contains(key)) {
        read(json.find(key).value(), inside, field.field);
      }
    });
  }

  template <class E>
  requires std::is_enum_v<E>
  void read(const Json& json, const std::string& where, E& value) const {
    const std::optional<E> found = json.is_string() ? from_word<E>(json.get_ref<const std::string&>()) : std::nullopt;
    if (!found) refuse(where, fmt::format("one of \"{}\"", fmt::join(words_of<E>(), "\", \"")).c_str(), json);
    value = *found;
  }

  void read(const Json& json, const std::string& where, bool& value) const;
  void read(const Json& json, const std::string& where, int& value) const;
  void read(const Json& json, const std::string& where, std::size_t& value) const;
  void read(const Json& json, const std::string& where, double& value) const;
  void read(const Json& json, const std::string& where, std::optional<double>& value) const;  // null: none
  void read(const Json& json, const std::string& where, std::string& value) const;
  void read(const Json& json, const std::string& where, std::vector<double>& value) const;
  template <std::size_t count>
  void read(const Json& json, const std::string& where, std::array<double, count>& value) const {
    std::vector<double> numbers;
    read(json, where, numbers);
    if (numbers.size() != count) refuse(where, fmt::format("an array of {} numbers", count).c_str(), json);
    std::copy(numbers.begin(), numbers.end(), value.begin());
  }

  std::string subject_;
};

}  // namespace drift
