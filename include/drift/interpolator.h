#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drift/control.h"
#include "drift/domain.h"
#include "drift/engine.h"
#include "drift/export.h"
#include "drift/network_spec.h"

namespace DRIFT_PUBLIC drift {

// Every method of making a field from observations, drift's own networks and their rivals, behind one interface. Numbers are in
// the engine's units: coordinates scaled by a domain, values standardised.

struct InterpolatorData {
  TrainingSet training;        // one output; coordinates are the spatial ones, then time where the field has it
  Space space = Space::plane;  // sphere: the first three coordinates are a unit vector
  int space_coordinates = 2;   // 3 on the sphere
  // Further columns of the observations; empty if the data lack them.
  std::span<const float> noise_sd = {};         // [N] of its error
  std::span<const std::int32_t> track = {};     // [N]
  std::span<const std::uint8_t> platform = {};  // [N]
  std::span<const std::uint8_t> fold = {};      // [N] below fold_count: whole tracks or blocks, to judge settings by
  int fold_count = 0;
  std::span<const std::uint32_t> group = {};  // [N] from 0 without gaps: the tracks or blocks that the folds are made of
  std::optional<double> given_noise_sd = {};  // of every observation's error, where the user gave it: comes before noise_sd

  bool has_time() const { return training.coordinates.cols > static_cast<std::size_t>(space_coordinates); }
};

// Options of a fit, independent of the method.
struct InterpolatorOptions {
  std::uint64_t seed = 1;
  int threads = 0;                        // 0: one per core that this process may use
  Backend backend = Backend::automatic;   // of methods that train networks
  Precision precision = Precision::tf32;  // theirs, on a GPU
};

// Predictions at n points. Leave unwanted spans empty.
struct PointForecast {
  std::span<double> mean = {};          // [n]
  std::span<double> sd_epistemic = {};  // [n] of the field
  std::span<double> sd_total = {};      // [n] of a new observation: field and noise together
  std::span<float> members = {};        // [n, members()] each network's own
};

// Resources for predictions, if other than those of the fit.
struct Workers {
  int threads = 0;           // 0: those of the fit; of a method that was loaded, one per core
  Engine* engine = nullptr;  // of methods with networks; none: that of the fit, or the CPU's
};

class State;  // drift/state.h

// One method, with its settings. fit() or restore() once, then predict() any number of times. fit() throws Error before
// it begins if the machine has too little memory, with both figures and the setting to change.
class Interpolator {
 public:
  virtual ~Interpolator() = default;

  // Throws Stopped when stopped: predict() may then not be called.
  virtual void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) = 0;
  void fit(const InterpolatorData& data, const InterpolatorOptions& options = {}) { fit(data, options, Control()); }

  // points [n, coordinates]. Any number, in constant extra memory.
  virtual void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const = 0;
  void predict(MatrixView<const float> points, const PointForecast& out) const { predict(points, out, Workers()); }

  // All that predict() needs, and back: a method of the same text and domain that restores a state predicts the same bits. The
  // default is that of methods that cannot be saved: UsageError. restore() throws Error for a state that is not such a method's.
  virtual void save(State& state) const;
  virtual void restore(const State& state, const Domain& domain);

  // In the engine's units, [space, time] or [space], where the method has them: what is smooth over them.
  virtual std::vector<double> lengthscales() const { return {}; }

  // True: sd_total includes the method's own estimate of the noise. False: it equals sd_epistemic, and the noise is still to be
  // estimated from held-out observations.
  virtual bool knows_noise() const = 0;

  // Networks whose forecasts, one by one, are draws of the field; 0: its forecast is a mean and a spread alone.
  virtual std::size_t members() const { return 0; }

  // Standardised sd of an observation's error that the method knows better than held-out residuals can tell; none: it does not.
  virtual std::optional<double> settled_noise() const { return std::nullopt; }

  // Findings of the fit by name, in the domain's units: {"lengthscale", "240 km"}, {"noise sd", "0.011"}.
  virtual std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const = 0;
};

// The available methods.
struct MethodOption {
  std::string name;      // "neighbours"
  std::string help;      // one line with unit and range
  std::string fallback;  // "32"; "data": chosen from the data
};
struct MethodInfo {
  std::string name;     // "nngp"
  std::string title;    // "Nearest-neighbour GP"
  std::string summary;  // one line: "kriging from the nearest observations"
  std::string source;   // publications: "Vecchia 1988; Datta et al. 2016"
  std::vector<MethodOption> options;
};
const std::vector<MethodInfo>& method_infos();

// A method by name, with settings where they differ from the defaults: "nngp", "svgp:inducing=1000,epochs=5". Lengths are in the
// domain's units. Throws UsageError naming the nearest method or option, or the range.
std::unique_ptr<Interpolator> make_interpolator(const std::string& text, const Domain& domain);

// A fitted method, from its text and the state that it saved. Throws Error for a state that does not fit.
std::unique_ptr<Interpolator> load_interpolator(const std::string& text, const State& state, const Domain& domain);

}  // namespace drift
