#include "data/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "data/csv_field.h"
#include "data/words.h"
#include "drift/error.h"

namespace drift {
namespace {

struct Operator {
  std::string_view sign;  // with the blanks that must be around it
  Condition::Kind kind;
};

// The longer before those that they begin with.
constexpr std::array<Operator, 6> kSigns = {{{"<=", Condition::Kind::less_or_equal},
                                             {">=", Condition::Kind::more_or_equal},
                                             {"==", Condition::Kind::in},
                                             {"!=", Condition::Kind::not_in},
                                             {"<", Condition::Kind::less},
                                             {">", Condition::Kind::more}}};
constexpr std::array<Operator, 3> kWords = {
    {{" not in ", Condition::Kind::not_in}, {" in ", Condition::Kind::in}, {" has ", Condition::Kind::has}}};

[[noreturn]] void fail(const std::string& text, const std::string& why) {
  throw UsageError(
      fmt::format("the condition \"{}\" {}; understood are NAME in 1,2,3; NAME not in 1,2,3; NAME < 1 with <, <=, "
                  ">, >=, == or !=; and NAME has 3 for bits of a flag",
                  text, why));
}

bool takes_one(Condition::Kind kind) { return kind != Condition::Kind::in && kind != Condition::Kind::not_in; }

Condition make(const std::string& text, const Operator& op, std::size_t at) {
  Condition condition;
  condition.text = text;
  condition.name = stripped(std::string_view(text).substr(0, at));
  condition.kind = op.kind;
  condition.words = split(std::string_view(text).substr(at + op.sign.size()), ',');
  if (condition.name.empty()) fail(text, "names no variable");
  if (std::any_of(condition.words.begin(), condition.words.end(), [](const auto& word) { return word.empty(); })) {
    fail(text, "has a value missing");
  }
  for (const std::string& word : condition.words) {
    double number = 0.0;
    if (parse_number(word, number) == CsvParsed::good) condition.numbers.push_back(number);
  }
  if (condition.numbers.size() < condition.words.size()) condition.numbers.clear();
  const bool list = condition.words.size() > 1;
  const bool compares = op.sign == "==" || op.sign == "!=";
  if (list && (takes_one(op.kind) || compares)) fail(text, "has more than one value");
  if (takes_one(op.kind) && condition.of_text()) fail(text, fmt::format("needs a number, not \"{}\"", condition.words[0]));
  if (op.kind == Condition::Kind::has) {
    const double bits = condition.numbers[0];
    if (!(bits >= 1.0 && bits <= 0x1p53) || bits != std::floor(bits)) fail(text, "needs a whole number of at least 1");
  }
  return condition;
}

bool has_bits(double number, double bits) {
  if (!(std::abs(number) <= 0x1p53)) return false;
  const auto wanted = static_cast<std::int64_t>(bits);
  return (static_cast<std::int64_t>(number) & wanted) == wanted;
}

}  // namespace

bool Condition::holds(double number) const {
  if (std::isnan(number)) return false;
  const auto listed = [&] { return std::find(numbers.begin(), numbers.end(), number) != numbers.end(); };
  switch (kind) {
    case Kind::in:
      return listed();
    case Kind::not_in:
      return !listed();
    case Kind::less:
      return number < numbers[0];
    case Kind::less_or_equal:
      return number <= numbers[0];
    case Kind::more:
      return number > numbers[0];
    case Kind::more_or_equal:
      return number >= numbers[0];
    default:
      return has_bits(number, numbers[0]);
  }
}

bool Condition::holds(std::string_view word) const {
  const bool listed = std::find(words.begin(), words.end(), word) != words.end();
  return listed == (kind == Kind::in);
}

std::string Condition::refusal() const { return fmt::format("{}{}{}", quality ? kQuality : "", refused ? "" : "not ", text); }

Condition parse_condition(const std::string& text) {
  for (const Operator& op : kSigns) {
    if (const std::size_t at = text.find(op.sign); at != std::string::npos) return make(text, op, at);
  }
  for (const Operator& op : kWords) {
    if (const std::size_t at = text.find(op.sign); at != std::string::npos) return make(text, op, at);
  }
  fail(text, "is not valid");
}

}  // namespace drift
