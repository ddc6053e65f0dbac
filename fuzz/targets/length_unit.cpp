#include "geo/length_unit.h"

#include <cmath>

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("length_unit", [](std::string_view input) {
  if (const auto metres = metres_of(std::string(input))) {
    require(*metres > 0.0 && std::isfinite(*metres), "a unit of length has a length");
  }
});

}  // namespace
}  // namespace drift::fuzz
