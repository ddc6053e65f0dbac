#include <cmath>

#include "drift/domain.h"
#include "geo/projection.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("crs", [](std::string_view input) {
  const Projection projection{std::string(input)};
  require(projection.metres_per_unit() > 0.0, "axes have a unit");
  std::vector<double> x = {10.0, -170.0}, y = {70.0, -45.0};
  projection.forward(x, y);
  projection.inverse(x, y);
  projection.area_of_use();
});

}  // namespace
}  // namespace drift::fuzz
