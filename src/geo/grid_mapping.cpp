// CF's names (CF-1.8, appendix F) beside those of EPSG's methods and parameters and of PROJ strings. One table serves both ways.

#include "geo/grid_mapping.h"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "core/degree.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "geo/crs_text.h"
#include "geo/proj_handles.h"
#include "geo/projection.h"

namespace drift {
namespace {

struct Parameter {
  int epsg;          // of the parameter
  const char* cf;    // attribute
  const char* proj;  // key of a PROJ string
};

struct Mapping {
  std::vector<int> methods;  // EPSG's; none: read, never written
  const char* cf;            // grid_mapping_name
  const char* proj;
  std::vector<Parameter> parameters;
};

// Eastings and northings, last in every list.
constexpr Parameter kFalseEasting = {8806, "false_easting", "x_0"};
constexpr Parameter kFalseNorthing = {8807, "false_northing", "y_0"};
constexpr Parameter kOriginEasting = {8826, "false_easting", "x_0"};
constexpr Parameter kOriginNorthing = {8827, "false_northing", "y_0"};
constexpr Parameter kLatOrigin = {8801, "latitude_of_projection_origin", "lat_0"};
constexpr Parameter kLonOrigin = {8802, "longitude_of_projection_origin", "lon_0"};
constexpr Parameter kCentralMeridian = {8802, "longitude_of_central_meridian", "lon_0"};
constexpr Parameter kScale = {8805, "scale_factor_at_projection_origin", "k_0"};

const std::vector<Mapping>& mappings() {
  static const std::vector<Mapping> all = {
      {{9820, 1027}, "lambert_azimuthal_equal_area", "laea", {kLatOrigin, kLonOrigin, kFalseEasting, kFalseNorthing}},
      {{9810},
       "polar_stereographic",
       "stere",
       {kLatOrigin, {8802, "straight_vertical_longitude_from_pole", "lon_0"}, kScale, kFalseEasting, kFalseNorthing}},
      {{9829},
       "polar_stereographic",
       "stere",
       {{8832, "standard_parallel", "lat_ts"},
        {8833, "straight_vertical_longitude_from_pole", "lon_0"},
        kFalseEasting,
        kFalseNorthing}},
      {{9807},
       "transverse_mercator",
       "tmerc",
       {kLatOrigin, kCentralMeridian, {8805, "scale_factor_at_central_meridian", "k_0"}, kFalseEasting, kFalseNorthing}},
      {{9802},
       "lambert_conformal_conic",
       "lcc",
       {{8821, "latitude_of_projection_origin", "lat_0"},
        {8822, "longitude_of_central_meridian", "lon_0"},
        {8823, "standard_parallel", "lat_1"},
        {8824, "standard_parallel", "lat_2"},
        kOriginEasting,
        kOriginNorthing}},
      {{9822},
       "albers_conical_equal_area",
       "aea",
       {{8821, "latitude_of_projection_origin", "lat_0"},
        {8822, "longitude_of_central_meridian", "lon_0"},
        {8823, "standard_parallel", "lat_1"},
        {8824, "standard_parallel", "lat_2"},
        kOriginEasting,
        kOriginNorthing}},
      {{9835, 9834},
       "lambert_cylindrical_equal_area",
       "cea",
       {{8823, "standard_parallel", "lat_ts"}, kCentralMeridian, kFalseEasting, kFalseNorthing}},
      {{9805}, "mercator", "merc", {{8823, "standard_parallel", "lat_ts"}, kLonOrigin, kFalseEasting, kFalseNorthing}},
      {{9804}, "mercator", "merc", {kLonOrigin, kScale, kFalseEasting, kFalseNorthing}},
      {{9840}, "orthographic", "ortho", {kLatOrigin, kLonOrigin, kFalseEasting, kFalseNorthing}},
      {{}, "azimuthal_equidistant", "aeqd", {kLatOrigin, kLonOrigin, kFalseEasting, kFalseNorthing}},
      {{}, "stereographic", "stere", {kLatOrigin, kLonOrigin, kScale, kFalseEasting, kFalseNorthing}},
      {{}, "sinusoidal", "sinu", {kLonOrigin, kFalseEasting, kFalseNorthing}},
  };
  return all;
}

ProjContext quiet_context() {
  ProjContext context(proj_context_create());
  proj_log_level(context.get(), PJ_LOG_NONE);
  proj_context_set_enable_network(context.get(), 0);
  return context;
}

// The projected CRS of a text, without a datum shift; null where there is none.
ProjObject projected_crs(PJ_CONTEXT* context, const std::string& text) {
  const bool proj_string = text.find("+proj=") != std::string::npos && text.find("+type=crs") == std::string::npos;
  if (!is_plain_crs(text)) return ProjObject();
  ProjObject crs(proj_create(context, (proj_string ? text + " +type=crs" : text).c_str()));
  if (crs && proj_get_type(crs.get()) == PJ_TYPE_COMPOUND_CRS) crs.reset(proj_crs_get_sub_crs(context, crs.get(), 0));
  if (crs && proj_get_type(crs.get()) == PJ_TYPE_BOUND_CRS) crs.reset(proj_get_source_crs(context, crs.get()));
  if (crs && proj_get_type(crs.get()) != PJ_TYPE_PROJECTED_CRS) crs.reset();
  return crs;
}

bool is_geographic(PJ_CONTEXT* context, const std::string& text) {
  if (!is_plain_crs(text)) return false;
  const ProjObject crs(proj_create(context, text.c_str()));
  const PJ_TYPE type = crs ? proj_get_type(crs.get()) : PJ_TYPE_UNKNOWN;
  return type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS;
}

// Rounds away what unit conversions add: 45 degrees must not come out as 45.000000000000007.
double tidy(double number) {
  const double rounded = std::round(number * 1e9) / 1e9;
  return std::abs(number - rounded) < 1e-11 * std::max(1.0, std::abs(number)) ? rounded : number;
}

// Of an operation, in degrees, metres or as a plain number; none where it has no such parameter.
std::optional<double> parameter(PJ_CONTEXT* context, const PJ* operation, int epsg) {
  for (int i = 0; i < proj_coordoperation_get_param_count(context, operation); ++i) {
    const char* code = nullptr;
    const char* category = nullptr;
    double number = 0.0, unit = 1.0;
    if (!proj_coordoperation_get_param(context, operation, i, nullptr, nullptr, &code, &number, nullptr, &unit, nullptr, nullptr,
                                       nullptr, &category)) {
      continue;
    }
    if (code == nullptr || code != std::to_string(epsg)) continue;
    return tidy(std::string_view(category) == "angular" ? number * unit / kDegree : number * unit);
  }
  return std::nullopt;
}

void add_parameters(PJ_CONTEXT* context, const PJ* operation, const Mapping& mapping, CfAttributes& attributes) {
  attributes["grid_mapping_name"].text = mapping.cf;
  for (const Parameter& p : mapping.parameters) {
    if (const auto number = parameter(context, operation, p.epsg)) attributes[p.cf].numbers.push_back(*number);
  }
  if (std::string_view(mapping.cf) != "polar_stereographic" || attributes.contains("latitude_of_projection_origin")) return;
  const std::vector<double>& parallel = attributes["standard_parallel"].numbers;
  attributes["latitude_of_projection_origin"].numbers = {!parallel.empty() && parallel.front() < 0.0 ? -90.0 : 90.0};
}

void add_projection(PJ_CONTEXT* context, const PJ* crs, CfAttributes& attributes) {
  const ProjObject operation(proj_crs_get_coordoperation(context, crs));
  const char* code = nullptr;
  if (!operation || !proj_coordoperation_get_method_info(context, operation.get(), nullptr, nullptr, &code)) return;
  for (const Mapping& mapping : mappings()) {
    const bool here = code != nullptr && std::any_of(mapping.methods.begin(), mapping.methods.end(),
                                                     [&](int method) { return code == std::to_string(method); });
    if (here) return add_parameters(context, operation.get(), mapping, attributes);
  }
}

void add_figure(PJ_CONTEXT* context, const PJ* crs, CfAttributes& attributes) {
  const ProjObject ellipsoid(proj_get_ellipsoid(context, crs));
  double semi_major = 0.0, inverse_flattening = 0.0;
  if (ellipsoid && proj_ellipsoid_get_parameters(context, ellipsoid.get(), &semi_major, nullptr, nullptr, &inverse_flattening)) {
    attributes["semi_major_axis"].numbers = {semi_major};
    attributes["inverse_flattening"].numbers = {tidy(inverse_flattening)};
  }
  const ProjObject meridian(proj_get_prime_meridian(context, crs));
  double longitude = 0.0, unit = 1.0;
  if (meridian && proj_prime_meridian_get_parameters(context, meridian.get(), &longitude, &unit, nullptr)) {
    attributes["longitude_of_prime_meridian"].numbers = {tidy(longitude * unit / kDegree)};
  }
}

void add_name(const PJ* crs, const char* attribute, CfAttributes& attributes) {
  const char* const name = proj_get_name(crs);
  if (name != nullptr && std::string_view(name) != "unknown") attributes[attribute].text = name;
}

void add_wkt(PJ_CONTEXT* context, const PJ* crs, CfAttributes& attributes) {
  constexpr std::array<const char*, 2> kOneLine = {"MULTILINE=NO", nullptr};
  if (const char* wkt = proj_as_wkt(context, crs, PJ_WKT2_2019, kOneLine.data())) attributes["crs_wkt"].text = wkt;
}

bool in_metres(PJ_CONTEXT* context, const PJ* crs) {
  const ProjObject system(proj_crs_get_coordinate_system(context, crs));
  double metres = 1.0;
  proj_cs_get_axis_info(context, system.get(), 0, nullptr, nullptr, nullptr, &metres, nullptr, nullptr, nullptr);
  return metres == 1.0;
}

// Numbers that files write as text are numbers all the same.
std::optional<double> number_of(const CfAttributes& attributes, const std::string& name, std::size_t index = 0) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  if (index < found->second.numbers.size()) return found->second.numbers[index];
  return index == 0 ? parse_number<double>(found->second.text) : std::nullopt;
}

std::string text_of(const CfAttributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second.text;
}

std::string figure_text(const CfAttributes& attributes) {
  std::string text;
  const auto radius = number_of(attributes, "earth_radius"), semi_major = number_of(attributes, "semi_major_axis"),
             semi_minor = number_of(attributes, "semi_minor_axis"), inverse = number_of(attributes, "inverse_flattening");
  if (semi_major && inverse && *inverse > 0.0) {
    text = fmt::format(" +a={} +rf={}", *semi_major, *inverse);
  } else if (semi_major) {
    text = fmt::format(" +a={} +b={}", *semi_major, semi_minor.value_or(*semi_major));
  } else {
    text = radius ? fmt::format(" +R={}", *radius) : " +ellps=WGS84";
  }
  if (const auto meridian = number_of(attributes, "longitude_of_prime_meridian"); meridian && *meridian != 0.0) {
    text += fmt::format(" +pm={}", *meridian);
  }
  return text;
}

std::string proj_string(const CfAttributes& attributes, const std::string& name) {
  std::map<std::string, double> keys;
  const char* projection = nullptr;
  for (const Mapping& mapping : mappings()) {
    if (name != mapping.cf) continue;
    projection = mapping.proj;
    for (const Parameter& p : mapping.parameters) {
      const std::string key = p.proj;
      if (const auto number = number_of(attributes, p.cf, key == "lat_2" ? 1 : 0)) keys[key] = *number;
    }
  }
  if (projection == nullptr) {
    throw Error(
        fmt::format("grid_mapping_name '{}' is not one that drift knows, and there is no crs_wkt that PROJ understands", name));
  }
  // CF-1.9 lets a polar stereographic file say longitude_of_projection_origin; a file may leave its pole to be told by the
  // parallel.
  if (name == "polar_stereographic") {
    if (const auto lon = number_of(attributes, "longitude_of_projection_origin"); lon && !keys.contains("lon_0"))
      keys["lon_0"] = *lon;
    if (!keys.contains("lat_0")) keys["lat_0"] = keys.contains("lat_ts") && keys["lat_ts"] < 0.0 ? -90.0 : 90.0;
    if (keys.contains("lat_ts")) keys.erase("k_0");
  }
  std::string text = fmt::format("+proj={}", projection);
  for (const auto& [key, number] : keys) text += fmt::format(" +{}={}", key, number);
  return text + figure_text(attributes) + " +units=m +no_defs +type=crs";
}

// "EPSG:6931" where the CRS says that it is that, and it is.
std::string short_name(PJ_CONTEXT* context, const PJ* crs, const std::string& otherwise) {
  const char* authority = proj_get_id_auth_name(crs, 0);
  const char* code = proj_get_id_code(crs, 0);
  if (authority == nullptr || code == nullptr) return otherwise;
  std::string name = fmt::format("{}:{}", authority, code);
  const ProjObject known = projected_crs(context, name);
  return known && proj_is_equivalent_to(crs, known.get(), PJ_COMP_EQUIVALENT) ? name : otherwise;
}

}  // namespace

CfAttributes grid_mapping_of(const std::string& crs) {
  projection_of(crs);  // refuses with PROJ's reason
  const ProjContext context = quiet_context();
  const ProjObject projected = projected_crs(context.get(), crs);
  if (!projected) throw Error(fmt::format("coordinate reference system '{}' cannot be described", crs));
  CfAttributes attributes;
  add_projection(context.get(), projected.get(), attributes);
  add_figure(context.get(), projected.get(), attributes);
  add_name(projected.get(), "projected_crs_name", attributes);
  // Coordinates are written in metres: the text of a CRS in feet would contradict them, and serves only where all else is
  // missing.
  if (!in_metres(context.get(), projected.get()) && attributes.contains("grid_mapping_name")) return attributes;
  add_wkt(context.get(), projected.get(), attributes);
  return attributes;
}

CfAttributes geographic_grid_mapping() {
  const ProjContext context = quiet_context();
  const ProjObject wgs84(proj_create(context.get(), "EPSG:4326"));
  if (!wgs84) throw Error("PROJ does not know EPSG:4326; is its database (proj-data) installed?");
  CfAttributes attributes;
  attributes["grid_mapping_name"].text = "latitude_longitude";
  add_figure(context.get(), wgs84.get(), attributes);
  add_name(wgs84.get(), "geographic_crs_name", attributes);
  add_wkt(context.get(), wgs84.get(), attributes);
  return attributes;
}

std::string crs_of_grid_mapping(const CfAttributes& attributes) {
  const std::string name = text_of(attributes, "grid_mapping_name");
  if (name == "latitude_longitude") return "";
  const ProjContext context = quiet_context();
  const auto understood = [&](const std::string& text) -> std::optional<std::string> {
    const ProjObject crs = text.empty() ? nullptr : projected_crs(context.get(), text);
    if (!crs) return std::nullopt;
    return short_name(context.get(), crs.get(), text);
  };
  for (const char* wkt : {"crs_wkt", "spatial_ref", "spatial_ref_wkt"}) {
    const std::string text = text_of(attributes, wkt);
    if (const auto crs = understood(text)) return *crs;
    if (!text.empty() && name.empty() && is_geographic(context.get(), text)) return "";
  }
  if (!name.empty()) {
    std::string text = proj_string(attributes, name);
    if (understood(text)) return text;
    throw Error(fmt::format("grid_mapping_name '{}': PROJ cannot make a projection of '{}'", name, text));
  }
  for (const char* other :
       {"proj4_string", "proj4text", "proj4", "proj_string", "proj_parameters", "epsg_code", "EPSG_code", "srid"}) {
    if (const auto crs = understood(text_of(attributes, other))) return *crs;
    const auto number = number_of(attributes, other);
    if (const auto crs = number ? understood(fmt::format("EPSG:{}", *number)) : std::nullopt) return *crs;
  }
  throw Error("the grid mapping has neither grid_mapping_name nor a crs_wkt that PROJ understands");
}

}  // namespace drift
