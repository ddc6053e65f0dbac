// The attributes of a CF grid-mapping variable, a line each: name=text, or name#numbers between blanks.

#include "geo/grid_mapping.h"

#include <sstream>

#include "drift/domain.h"
#include "geo/projection.h"
#include "target.h"

namespace drift::fuzz {
namespace {

CfAttributes attributes_of(std::string_view input) {
  CfAttributes attributes;
  for (auto [line, rest] = split(input, '\n'); !line.empty(); std::tie(line, rest) = split(rest, '\n')) {
    if (const auto [name, text] = split(line, '='); name.size() < line.size()) {
      attributes[name].text = text;
      continue;
    }
    const auto [name, text] = split(line, '#');
    std::istringstream numbers(text);
    for (double number = 0.0; numbers >> number;) attributes[name].numbers.push_back(number);
  }
  return attributes;
}

const FuzzTarget target("grid_mapping", [](std::string_view input) {
  const std::string crs = crs_of_grid_mapping(attributes_of(input));
  if (crs.empty()) return;
  require(Projection(crs).metres_per_unit() > 0.0, "the plane of a grid mapping has a unit");
});

}  // namespace
}  // namespace drift::fuzz
