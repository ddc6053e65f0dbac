#include "data/condition.h"

#include <limits>

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("condition", [](std::string_view input) {
  const Condition condition = parse_condition(std::string(input));
  require(!condition.name.empty() && !condition.words.empty(), "a condition has a name and words");
  if (!condition.of_text()) {
    for (const double number : {0.0, -1.5, 64.0, 1e300, -1e300, std::numeric_limits<double>::infinity()}) condition.holds(number);
    require(!condition.holds(std::numeric_limits<double>::quiet_NaN()), "no condition holds for a missing number");
  }
  condition.holds("s3a");
  condition.refusal();
});

}  // namespace
}  // namespace drift::fuzz
