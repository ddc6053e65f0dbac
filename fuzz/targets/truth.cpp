// The text of a synthetic truth; that of a velocity alone behind a line end.

#include "drift/truth.h"

#include <cmath>

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("truth", [](std::string_view input) {
  const auto [text, velocity] = split(input, '\n');
  if (!velocity.empty()) {
    const FieldVelocity parsed = parse_velocity(velocity);
    require(std::isfinite(parsed.east_km_per_day) && std::isfinite(parsed.north_km_per_day), "a velocity is finite");
  }
  const std::string again = to_text(parse_synthetic(text));
  require(to_text(parse_synthetic(again)) == again, "a truth comes back from its own text");
});

}  // namespace
}  // namespace drift::fuzz
