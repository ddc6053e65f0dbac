#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/engine.h"
#include "drift/export.h"
#include "drift/field_model.h"
#include "drift/field_sink.h"
#include "drift/grid.h"
#include "drift/roles.h"

namespace DRIFT_PUBLIC drift {

// From a model to numbers: at points, in a table of points, or on a grid. Any number of points, in constant extra memory; a stop
// request throws Stopped within a second.

// Predictions wanted besides the mean and its standard deviations.
struct PredictWants {
  bool members = false;   // the ensemble's
  bool gradient = false;  // with the geostrophic velocity where sea_surface_height() allows it
  // Distance over which gradients are taken: km, or the unit of x and y. None: chosen from the model's lengthscale. 0: the
  // slope of the mean itself, without standard deviations, since a rough field's slope has none. Refused without `gradient`.
  std::optional<double> gradient_scale = {};
};

// That distance for a model. Throws UsageError for a scale below what single precision resolves.
double gradient_scale(const FieldModel& model, const PredictWants& wants);

// The field as it comes from the model, in the values' unit. Vectors that are not wanted stay empty.
struct FieldPrediction {
  std::vector<double> mean;              // [n]; NaN where the position is NaN, or beyond the reach of the model's plane
  std::vector<double> sd_epistemic;      // [n], of the field, spread_scale included; empty without a spread
  std::vector<double> sd_total;          // [n], of a new observation; empty without a spread
  std::vector<double> members;           // [members, n]
  std::vector<GroundGradient> gradient;  // [n] over gradient_scale(): differences of the mean; per_day is NaN unless that is 0
  // [n] of the field's difference over that distance, spread_scale included, per_day NaN; empty for a scale of 0, for models
  // without a spread and for other methods, which do not tell the covariance of their errors at two points.
  std::vector<GroundGradient> gradient_sd;
};

// At n positions and n times (one serves for all; none where the model has no time).
FieldPrediction predict_field(Engine& engine, const FieldModel& model, std::span<const double> lon_deg,
                              std::span<const double> lat_deg, std::span<const double> time_days, const PredictWants& wants = {},
                              const Control& control = {});

class PartsPredictor;  // src/fields/parts_predictor.h

// The same for points that come in parts: the networks are prepared once, on a GPU copied to it. Engine and model must outlive
// it.
class FieldPredictor {
 public:
  FieldPredictor(Engine& engine, const FieldModel& model);
  FieldPrediction operator()(std::span<const double> lon_deg, std::span<const double> lat_deg, std::span<const double> time_days,
                             const PredictWants& wants = {}, const Control& control = {}) const;

 private:
  std::shared_ptr<const PartsPredictor> parts_;
};

// What a wanted gradient does not bring, and why: clauses, empty where it does.
struct GradientLacks {
  std::string currents = {};  // geostrophic velocities
  std::string sd = {};        // standard deviations
};

// The same as layers, named and described as those of a map, with all that is derived: the 90 % interval, gradients, currents.
struct PointLayers {
  std::vector<FieldLayer> layers;
  std::vector<std::vector<double>> values;  // by layer: [n]; of members: [members, n]
  GradientLacks lacks = {};
};
PointLayers predict_at(Engine& engine, const FieldModel& model, std::span<const double> lon_deg, std::span<const double> lat_deg,
                       std::span<const double> time_days, const PredictWants& wants = {}, const Control& control = {});
// Positions in single precision, taken in parts: no copy of them all.
PointLayers predict_at(Engine& engine, const FieldModel& model, std::span<const float> lon_deg, std::span<const float> lat_deg,
                       std::span<const double> time_days, const PredictWants& wants = {}, const Control& control = {});

// Points of a map to leave empty. Several masks leave what any of them does.
struct MapMask {
  enum class Kind {
    ocean,      // land is left empty (GSHHG's coastlines, through GMT)
    data,       // so is what is far from observations
    condition,  // where a condition does not hold in the nearest cell of a gridded file, at its nearest time, or has no value
                // there
    polygons,   // what lies outside all polygons of a file: GeoJSON, or GMT's multiple segments
  };
  Kind kind = Kind::ocean;
  double distance = 0.0;            // data: km, or the unit of x and y
  std::filesystem::path file = {};  // condition, polygons
  std::string condition = {};       // "conc > 0.15", "flag in 1,2", or "conc" alone: it has a value
};
// "none", or masks joined by commas: "ocean", "data:100km" (xy: "data:3"), "ice.nc:conc>0.15", "truth.zarr:ssh", "shelf.geojson".
// Throws UsageError.
std::vector<MapMask> parse_masks(const std::string& text);

// Times of a map by a word: "daily" (noon UTC of each day), "hourly", "6-hourly" (1 to 24), "monthly" (the 15th of each month,
// 00:00 UTC): those between the first and the last observation. None: the text is no such word. Throws UsageError where the model
// has no dates, or no such time.
std::optional<std::vector<double>> regular_times(const FieldInfo& info, const std::string& word);

// Times of a map by a text: such a word, one time (ISO 8601, or a number), or "FROM/TO/STEP", the step in days. Throws
// UsageError.
std::vector<double> map_times(const FieldInfo& info, const std::string& text);

struct MapOptions {
  Grid grid;
  std::vector<double> time_days = {};  // empty where the model has no time
  PredictWants wants = {};
  std::vector<MapMask> masks = {};
  std::string command = {};  // the file's history: the command line, or a description by the calling program
  std::map<std::string, std::string> attributes = {};  // of the file: institution, license, id, ... (ACDD)
};

// Points that lie far from all observations, farther than two of the model's lengthscales: the field there is a guess.
struct FarPoints {
  std::size_t count = 0;
  double distance = 0.0;      // what counts as far: km, or the unit of x and y
  std::size_t unreached = 0;  // others, beyond the reach of the model's plane: there is no value
};
// Counts both. Two lengthscales: over so much a Matérn correlation falls below a quarter. Copies share what takes long to make.
class FarCounter {
 public:
  explicit FarCounter(const FieldModel& model);

  // NaN positions are none.
  void add(std::span<const double> lon_deg, std::span<const double> lat_deg, const Control& control = {});
  void add(std::span<const float> lon_deg, std::span<const float> lat_deg, const Control& control = {});
  FarPoints result() const { return counted_; }

 private:
  Domain domain_;
  std::optional<NearData> near_;  // none: the model knows no lengthscale, or not where its observations lay
  FarPoints counted_;
};

struct MapReport {
  std::vector<std::string> variables;
  std::size_t points = 0;  // of the grid
  std::size_t filled = 0;  // that have a value, at any time
  FarPoints far = {};      // of the filled ones, and of those that cannot be
  GradientLacks lacks = {};
  double predict_s = 0.0;       // spent on predictions, without masks and the file
  double predict_core_s = 0.0;  // the same of the processor, all threads together
};

// Mean, standard deviations and what else is wanted, block by block into a sink. Throws UsageError for an attribute that is
// drift's own (Conventions, history, geospatial_*, ...) or no valid name, and for grids and times that do not go with the model.
MapReport predict_map(Engine& engine, const FieldModel& model, const MapOptions& options, const SinkMaker& open,
                      const Control& control = {});
// The same in memory, on an engine of its own: a GPU if there is one.
Field predict_map(const FieldModel& model, const MapOptions& options, const Control& control = {});

// Copies a table of points (CSV, plain or gzip) and appends columns to each row, named as a map's layers: X, X_uncertainty (of
// the field), X_total_uncertainty (of a new observation) and so on, empty where a position or time is missing; X_predicted where
// the table has an X of its own. Streams: any number of rows. `time_days` serves rows of a table that has no time column.
struct PointsReport {
  std::size_t rows = 0;
  std::size_t missing = 0;                // without a position or time
  std::vector<std::string> columns = {};  // added
  double furthest_days = 0.0;             // outside the training span
  FarPoints far = {};
  GradientLacks lacks = {};
  double predict_s = 0.0;  // seconds spent on predictions, without reading and writing the tables
};
PointsReport predict_points(Engine& engine, const FieldModel& model, const std::filesystem::path& points,
                            const std::filesystem::path& path, const Roles& roles, std::optional<double> time_days = {},
                            const PredictWants& wants = {}, const Control& control = {});

// A default grid for the model: the globe by one degree; a polar plane by 25 km where the observations surround the pole; or
// the extent of the training observations (xy: of x and y) in about 200 cells, of 25 km at most on a polar plane.
Grid default_grid(const FieldModel& model);

// The grid of a text as read_grid (drift/field.h) has it, where CRS:25km covers the model's observations; default_grid if it is
// empty.
Grid grid_for(const FieldModel& model, const std::string& text);

// Height of the sea surface, from whose slope geostrophic currents follow: recognised by the CF standard name or, without one, by
// an unambiguous name (adt, zos; sla, ssha).
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
