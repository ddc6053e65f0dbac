#include "netcdf/acdd.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <chrono>
#include <ratio>

#include "drift/calendar.h"
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

void write_attributes(NcWriter& writer, FileAttributes own, const std::map<std::string, std::string>& callers) {
  own.texts.insert({{"source", fmt::format("drift {}", version())},
                    {"product_version", version()},
                    {"standard_name_vocabulary", "CF Standard Name Table v79"}});
  for (const auto& [name, text] : callers) own.texts[name] = text;
  own.texts["Conventions"] = "CF-1.8, ACDD-1.3";
  if (own.texts["date_created"].empty()) own.texts["date_created"] = now();
  for (const auto& [name, text] : own.texts) {
    own.numbers.erase(name);
    writer.attribute(NcWriter::kFile, name, text);
  }
  for (const auto& [name, number] : own.numbers) {
    writer.attribute(NcWriter::kFile, name, NC_DOUBLE, std::span(&number, 1));
  }
}

}  // namespace drift
