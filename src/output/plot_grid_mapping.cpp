#include "output/plot_grid_mapping.h"

#include <fmt/format.h>

#include <array>

#include "drift/error.h"
#include "geo/grid_mapping.h"

namespace drift {
namespace {

// Attributes that CF's appendix F and common practice put on a grid mapping. Each is a text or numbers.
constexpr std::array kAttributes = {"grid_mapping_name",
                                    "crs_wkt",
                                    "spatial_ref",
                                    "spatial_ref_wkt",
                                    "proj4_string",
                                    "proj4text",
                                    "proj4",
                                    "proj_string",
                                    "proj_parameters",
                                    "epsg_code",
                                    "EPSG_code",
                                    "srid",
                                    "false_easting",
                                    "false_northing",
                                    "latitude_of_projection_origin",
                                    "longitude_of_projection_origin",
                                    "longitude_of_central_meridian",
                                    "straight_vertical_longitude_from_pole",
                                    "standard_parallel",
                                    "scale_factor_at_projection_origin",
                                    "scale_factor_at_central_meridian",
                                    "earth_radius",
                                    "semi_major_axis",
                                    "semi_minor_axis",
                                    "inverse_flattening",
                                    "longitude_of_prime_meridian"};

}  // namespace

std::string crs_of(const NcReader& file, const NcVariable& variable) {
  std::string name = file.text(variable, "grid_mapping").value_or("");
  name = name.substr(0, name.find_first_of(": "));
  const NcVariable* mapping = name.empty() ? nullptr : file.find(name);
  if (mapping == nullptr) return "";
  CfAttributes attributes;
  for (const char* attribute : kAttributes) {
    if (const auto text = file.text(*mapping, attribute)) attributes[attribute].text = *text;
    if (const std::vector<double> numbers = file.numbers(*mapping, attribute); !numbers.empty()) {
      attributes[attribute].numbers = numbers;
    }
  }
  try {
    return crs_of_grid_mapping(attributes);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: variable '{}': {}", file.path().string(), mapping->name, error.what()));
  }
}

}  // namespace drift
