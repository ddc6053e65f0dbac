#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/dataset.h"
#include "drift/domain.h"
#include "drift/engine.h"
#include "drift/ensemble.h"
#include "drift/export.h"
#include "drift/observations.h"
#include "drift/uncertainty.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

// Description of a model's field and of the observations it was trained on.
struct FieldInfo {
  VariableInfo value = {};
  bool has_time = false;                               // the field varies in time
  bool calendar_time = false;                          // times are days since 1950-01-01 UTC, not plain numbers
  double first_time_days = 0.0, last_time_days = 0.0;  // of the training observations
  std::array<double, 4> extent = {};  // lon0, lat0, lon1, lat1 of them, lon0 > lon1 across the date line; xy: x0, y0, x1, y1
  double noise_sd = 0.0;              // of an observation's error, in the values' unit
  double spread_scale = 1.0;          // factor on the networks' own spread, fitted on held-out observations
  // Half-widths of intervals of a new observation in units of sd_total, at 50, 80, 90, 95 and 99 %, from held-out observations
  // (split conformal); 0: not fitted, -1: too few observations for the level.
  std::array<double, 5> conformal = {};
  std::size_t training = 0;     // observations
  std::string provenance = {};  // the dataset's; empty: not known

  bool is_conformal() const { return conformal[0] != 0.0; }
};

// Cells of a lattice that hold training observations. Some four million cells at most, about as
// wide as high: 14 km on the whole Earth, 2 km on a box of 40 by 30 degrees.
struct DataCells {
  int columns = 0, rows = 0;
  std::array<double, 4> extent =
      {};  // x0, y0, x1, y1 of all cells; degrees, x1 > 180 across the date line, or an xy domain's own
  std::vector<std::uint8_t> bits = {};  // [rows * columns], eight to a byte
};
DataCells data_cells(const Domain& domain, const Observations& observations, const Rows& rows = {});

// The corners of the cells with observations, which enclose all of these.
struct CellCorners {
  std::vector<double> lon_deg, lat_deg;
};
CellCorners corners_of(const DataCells& cells);

// Finds positions within `distance` (km; xy: its unit) of an observation. It errs on one side only: some positions farther away,
// by a cell's diagonal at most, also count as near (20 km on the whole Earth, 3 km on 40 by 30 degrees; 79 km for models of early
// versions, with cells of half a degree). NaN positions are never near.
class NearData {
 public:
  NearData(const Domain& domain, const DataCells& cells, double distance);  // throws UsageError unless the distance is positive
  std::vector<char> operator()(std::span<const double> lon_deg, std::span<const double> lat_deg) const;

 private:
  struct Index;
  std::shared_ptr<const Index> index_;
};

class Process;       // src/process/process.h
class Interpolator;  // drift/interpolator.h

// Weights of a blend's parts. Where the parts agree the process has this weight and the networks the rest. The networks count the
// less the further they are from the process, half as much at the reach: networks that differ from it by far more than they did
// on unseen observations usually extrapolate.
struct BlendWeight {
  double process = 1.0;
  double reach = 1.0;  // > 0, in standard deviations of the values

  bool operator==(const BlendWeight&) const = default;
};

// A source file of observations.
struct SourceFile {
  std::string name;    // without its folder
  std::string sha256;  // of its bytes; empty: not known, as of a remote file

  bool operator==(const SourceFile&) const = default;
};

// A trained model: its parts, as a list in src/fields/part.h, and everything needed to turn their output into a field.
struct FieldModel {
  Ensemble ensemble = {};                           // no members: the process or the other method alone
  std::shared_ptr<const Process> process = {};      // none: the networks alone
  BlendWeight weight = {};                          // of networks and process
  std::shared_ptr<const Interpolator> method = {};  // another method, alone; none: drift's own parts
  std::string method_text = {};                     // as make_interpolator takes it
  bool method_noise = false;                        // an observation's noise is the method's own at each point, not info's
  Domain domain = {};
  FieldInfo info = {};
  DataCells cells = {};
  std::vector<LastLayerPosterior> last_layers = {};  // one per member if the method is last_layer, else none
  std::string settings = {};                         // the run's, as TOML
  std::vector<std::uint64_t> training_sample = {};   // of the observations' hashes (src/fields/training_sample.h)
  // Of forecasts of observations that the forecast had not seen: JSON as of to_json(Scores) with "out_of_fold" (else held out or
  // a test set) and "scores_also_calibrated" (too few to halve: optimistic). Empty: none were held out.
  std::string scores = {};

  std::vector<SourceFile> sources =
      {};                   // of the observations; none: they came from arrays, or the model is of an earlier version
  std::string sha256 = {};  // of the file that it was loaded from; empty: it was not

  bool has_spread() const;
};

// A model file (drift/ensemble.h) whose metadata hold domain, info, cells, settings and scores. Loading throws Error, beginning
// with the path, also for a model that has no domain.
void save_field_model(const std::filesystem::path& path, const FieldModel& model);
FieldModel load_field_model(const std::filesystem::path& path);

// Fitted parameters of a model's process, in the units of the domain and the values.
struct ProcessInfo {
  double nu = 0.0;                                  // smoothness of its Matérn covariance
  double lengthscale_x = 0.0, lengthscale_y = 0.0;  // east and north, or x and y
  double shear = 0.0;                               // of x along y, in lengthscales per lengthscale
  double second_share = 0.0, second_length = 0.0;   // share of the variance over so many of the lengthscales; 0: there is none
  double second_time_days = 0.0;                    // its time scale, if it is wider and slower and stays at rest; else 0
  double time_lengthscale_days = 0.0;               // 0: the field has no time
  double velocity_x = 0.0, velocity_y = 0.0;        // per day
  double field_sd = 0.0, noise_sd = 0.0;            // of an observation's own error
  double track_sd = 0.0, platform_sd = 0.0;         // of the errors that a track and a platform share
};
std::optional<ProcessInfo> process_info(const FieldModel& model);  // none: the model has no process

// Refuses observations of another kind than those that trained the model: positions on a plane or on the Earth, units of
// positions and values, dates or plain numbers. A unit that is not known is not compared. Throws UsageError.
void check_goes_with(const FieldModel& model, const Dataset& data);

// Days by which a time lies outside the training span (negative: before it), 0 inside.
double days_outside(const FieldInfo& info, double time_days);
// The same of the time that is farthest outside; NaN is skipped. 0: all are inside, or the model has no time.
double furthest_outside(const FieldInfo& info, std::span<const double> time_days);

}  // namespace drift
