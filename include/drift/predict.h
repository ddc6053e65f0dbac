#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "drift/engine.h"
#include "drift/export.h"
#include "drift/field_model.h"
#include "drift/grid.h"
#include "drift/roles.h"

namespace DRIFT_PUBLIC drift {

// Which points of a map are left empty.
struct MapMask {
  enum class Kind { none, ocean, data };
  Kind kind = Kind::none;  // ocean: land is left empty (GSHHG's coastlines, through GMT); data: what is far from observations
  double distance = 0.0;   // data: km, or the unit of x and y
};
// "none", "ocean", "data:100km" (xy: "data:3"). Throws UsageError.
MapMask parse_mask(const std::string& text);

struct MapOptions {
  Grid grid;
  std::vector<double> time_days = {};  // empty where the model has no time
  bool members = false;
  bool gradient = false;  // with the geostrophic velocity where sea_surface_height() allows it
  MapMask mask = {};
  std::string command = {};  // the file's history: the command line, or whatever a program wants to say of itself
  std::map<std::string, std::string> attributes = {};            // of the file: institution, license, id, ... (ACDD)
  std::function<void(double done, double total)> progress = {};  // in points
  std::stop_token stop = {};                                     // asks for an end: Error, and no file is written
};

struct MapReport {
  std::vector<std::string> variables;
  std::size_t points = 0;        // of the grid
  std::size_t filled = 0;        // that have a value
  std::string no_currents = {};  // why there is a gradient but no geostrophic velocity; else empty
};

// Writes mean, standard deviations and what else is wanted as CF NetCDF, block by block. Throws UsageError for an attribute that
// is drift's own (Conventions, history, geospatial_*, ...) or no valid name.
MapReport predict_map(Engine& engine, const FieldModel& model, const MapOptions& options, const std::filesystem::path& path);

// Copies a table of points (CSV, plain or gzip) and puts columns behind each row, named as a map's variables: X,
// X_uncertainty (of the field) and X_total_uncertainty (of a new observation), empty where a position or time is missing.
// Streams: any number of rows. `time_days` serves rows of a table that has no time column; `stop` is as a map's.
struct PointsReport {
  std::size_t rows = 0;
  std::size_t missing = 0;
  double furthest_days = 0.0;  // outside the training span
};
PointsReport predict_points(Engine& engine, const FieldModel& model, const std::filesystem::path& points,
                            const std::filesystem::path& path, const Roles& roles, std::optional<double> time_days = {},
                            const std::stop_token& stop = {});

// A grid that suits the model: the globe by one degree, a polar plane by 25 km, or the training observations' box in about 200
// cells. xy: the extent of x and y.
Grid default_grid(const FieldModel& model);

// Whether geostrophic currents follow from the slope of the values, by their CF standard name or, without one, by a name that
// leaves no doubt (adt, zos; sla, ssha).
struct SeaSurfaceHeight {
  enum class Kind {
    none,
    absolute,  // above the geoid: the currents are the whole of them
    anomaly,   // above the mean sea level: the currents are what differs from the mean circulation
  };
  Kind kind = Kind::none;
  double metres = 0.0;        // factor from the values' unit
  std::string why_none = {};  // a clause, "'sst' is not ..."
};
SeaSurfaceHeight sea_surface_height(const VariableInfo& value);

// Geostrophic velocity in m/s from the slope of the sea surface in m per km: u = -g/f dh/dy, v = g/f dh/dx. NaN within 5 degrees
// of the equator, where f vanishes.
struct Velocity {
  double east, north;
};
Velocity geostrophic_velocity(double lat_deg, double slope_east_per_km, double slope_north_per_km);

}  // namespace drift
