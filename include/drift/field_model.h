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
  std::size_t training = 0;  // observations

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

// Which positions lie within `distance` (km; xy: its unit) of an observation: all of them that do, and some that are farther by a
// cell's diagonal at most (20 km on the whole Earth, 3 km on 40 by 30 degrees; 79 km for models with cells of half a degree, as
// drift once wrote). NaN positions do not.
class NearData {
 public:
  NearData(const Domain& domain, const DataCells& cells, double distance);  // throws UsageError unless the distance is positive
  std::vector<char> operator()(std::span<const double> lon_deg, std::span<const double> lat_deg) const;

 private:
  struct Index;
  std::shared_ptr<const Index> index_;
};
// The same for positions that come all at once.
std::vector<char> near_data(const Domain& domain, const DataCells& cells, std::span<const double> lon_deg,
                            std::span<const double> lat_deg, double distance);

class Process;       // src/process/process.h
class Interpolator;  // drift/interpolator.h

// Weights of a blend's parts. The process has this weight where they agree, the networks the rest; the further the networks are
// from the process, the less they count, and half as much at the reach: where they differ by far more than they did on
// observations that neither had seen, networks as a rule extrapolate.
struct BlendWeight {
  double process = 1.0;
  double reach = 1.0;  // > 0, in standard deviations of the values

  bool operator==(const BlendWeight&) const = default;
};

// A file that observations came from.
struct SourceFile {
  std::string name;    // without its folder
  std::string sha256;  // of its bytes; empty: not known, as of a remote file

  bool operator==(const SourceFile&) const = default;
};

// A trained model: networks, a process, both, or another method, with everything needed to turn their output into a field.
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
  std::vector<std::uint64_t> training_sample = {};   // tells which observations trained (src/fields/training_sample.h)
  std::string scores = {};                           // of the held-out observations, as JSON; empty: none were held out

  std::vector<SourceFile> sources =
      {};                   // of the observations; none: they came from arrays, or the model is of an earlier version
  std::string sha256 = {};  // of the file that it was loaded from; empty: it was not

  bool has_spread() const { return process || method || ensemble.members.size() > 1 || !last_layers.empty(); }
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
  double fine_share = 0.0, fine_length = 0.0;       // share of the variance over so much of the lengthscales; 0: there is none
  double time_lengthscale_days = 0.0;               // 0: the field has no time
  double velocity_x = 0.0, velocity_y = 0.0;        // per day
  double field_sd = 0.0, noise_sd = 0.0;            // of an observation's own error
  double track_sd = 0.0, platform_sd = 0.0;         // of the errors that a track and a platform share
};
std::optional<ProcessInfo> process_info(const FieldModel& model);  // none: the model has no process

// Days by which a time lies outside the training span (negative: before it), 0 inside.
double days_outside(const FieldInfo& info, double time_days);

}  // namespace drift
