#include "netcdf/acdd.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ratio>
#include <string_view>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/version.h"

namespace drift {
namespace {

std::string now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  constexpr double kFrom1950To1970 = 7305.0;  // days
  return acdd_time(kFrom1950To1970 + std::chrono::duration<double, std::ratio<86400>>(since_1970).count());
}

// EPSG:4326 has latitude first.
std::string ring(double west, double south, double east, double north) {
  return fmt::format("(({0} {1}, {2} {1}, {2} {3}, {0} {3}, {0} {1}))", south, west, north, east);
}

}  // namespace

std::string acdd_time(double days_since_1950) {
  std::string text = iso_time(days_since_1950);
  return text.find('T') == std::string::npos ? text + "T00:00:00Z" : text;
}

void FileAttributes::add_box(double west, double south, double east, double north) {
  numbers["geospatial_lat_min"] = south;
  numbers["geospatial_lat_max"] = north;
  numbers["geospatial_lon_min"] = west;
  numbers["geospatial_lon_max"] = east;
  texts["geospatial_lat_units"] = "degrees_north";
  texts["geospatial_lon_units"] = "degrees_east";
  texts["geospatial_bounds_crs"] = "EPSG:4326";
  texts["geospatial_bounds"] =
      west <= east ? "POLYGON " + ring(west, south, east, north)
                   : fmt::format("MULTIPOLYGON ({}, {})", ring(west, south, 180.0, north), ring(-180.0, south, east, north));
}

void FileAttributes::add_time_span(double first_days, double last_days) {
  texts["time_coverage_start"] = acdd_time(first_days);
  texts["time_coverage_end"] = acdd_time(last_days);
  texts["time_coverage_duration"] = fmt::format("P{}D", last_days - first_days);
}

bool is_cf_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto good = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), good);
}

void check_callers_attribute(const std::string& name, const std::string& text) {
  if (!is_cf_name(name)) {
    throw UsageError(fmt::format("attribute '{}': a name is letters, digits and _, a letter first", name));
  }
  constexpr std::array<std::string_view, 11> kOwn = {"Conventions",
                                                     "input_files",
                                                     "model_sha256",
                                                     "random_seed",
                                                     "history",
                                                     "source",
                                                     "date_created",
                                                     "product_version",
                                                     "cdm_data_type",
                                                     "spatial_resolution",
                                                     "standard_name_vocabulary"};
  const bool own = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end() || name.starts_with("geospatial_") ||
                   name.starts_with("time_coverage_");
  if (own) {
    throw UsageError(
        fmt::format("attribute '{}' is drift's own: it follows from what the file holds; set others, such as "
                    "institution, license, id, creator_name, title or comment",
                    name));
  }
  if (text.empty()) throw UsageError(fmt::format("attribute '{}' has no text", name));
}

void write_attributes(NcTarget& writer, FileAttributes own, const std::map<std::string, std::string>& callers) {
  own.texts.insert({{"source", fmt::format("drift {}", version())},
                    {"product_version", version()},
                    {"standard_name_vocabulary", "CF Standard Name Table v79"}});
  for (const auto& [name, text] : callers) own.texts[name] = text;
  own.texts["Conventions"] = "CF-1.8, ACDD-1.3";
  if (own.texts["date_created"].empty()) own.texts["date_created"] = now();
  for (const auto& [name, text] : own.texts) {
    own.numbers.erase(name);
    writer.attribute(NcTarget::kFile, name, text);
  }
  for (const auto& [name, number] : own.numbers) {
    writer.attribute(NcTarget::kFile, name, NC_DOUBLE, std::span(&number, 1));
  }
}

}  // namespace drift
