#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drift {

inline constexpr std::string_view kQuality = "quality control: ";  // before reasons that a preset gives

// A condition that observations must meet: "flag in 64,256", "swh < 3.5", "platform not in s3a", "flags has 3" (bits).
struct Condition {
  enum class Kind { in, not_in, less, less_or_equal, more, more_or_equal, has };

  std::string text;  // as given
  std::string name;  // of the variable or column
  Kind kind = Kind::in;
  std::vector<double> numbers;     // empty where any of the words is not a number
  std::vector<std::string> words;  // as given
  bool refused = false;            // observations that meet it are not wanted; those without a value are
  bool quality = false;            // asked by the product's preset, not by the user

  bool of_text() const { return numbers.empty(); }
  bool holds(double number) const;  // never where it is NaN; of_text() must be false
  bool holds(std::string_view word) const;
  std::string refusal() const;  // why an observation is left out: "not swh < 3.5", or "swh < 3.5"; with kQuality before it
};

// Throws UsageError that quotes the text and says what is understood.
Condition parse_condition(const std::string& text);

}  // namespace drift
