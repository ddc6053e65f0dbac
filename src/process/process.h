#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/matrix_view.h"
#include "drift/network_spec.h"
#include "process/local_spread.h"
#include "process/parameters.h"
#include "process/places.h"

namespace drift {

struct ProcessSettings {
  std::size_t neighbours = 80;          // nearest groups of places that a prediction takes
  std::size_t far_neighbours = 32;      // and of a thinning (place_finder.h)
  std::size_t single_neighbours = 240;  // without tracks, where each place is one observation; these alone
  std::optional<double> nu;             // none: chosen by held-out tracks or gaps
  std::size_t targets = 1200;           // observations held out in turn to fit the parameters
  std::size_t fit_neighbours = 60;
  std::uint64_t seed = 1;
  int threads = 0;  // 0 = one per core
};

// Results at n points; spans that are not wanted are empty.
struct ProcessForecast {
  std::span<double> mean = {};       // [n]
  std::span<double> variance = {};   // [n] of the field, the unknown mean included, were the spread the same everywhere
  MatrixView<double> gradient = {};  // [n, 3] of the mean: per unit towards the east (x), north (y), per unit of time
  std::span<double> local = {};      // [n] factor on that variance, and on the errors', of the local spread

  // Around each point two pairs of points, [n, 4, columns]: what its own neighbours say of them.
  MatrixView<const float> around = {};         // [4 n, columns]
  std::span<double> around_mean = {};          // [4 n]
  std::span<double> difference_variance = {};  // [2 n] of the field's difference between the two points of a pair, as variance
};

class Process {
 public:
  Process(Space space, bool has_time, ProcessParameters parameters, Places places, std::size_t neighbours,
          std::size_t far_neighbours = 0);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;

  const ProcessParameters& parameters() const;
  const Places& places() const;
  Space space() const;
  bool has_time() const;
  std::size_t neighbours() const;
  std::size_t far_neighbours() const;

  // Variance of an observation's errors on a track of its own, were the spread the same everywhere. Without the bias of its
  // platform: others of that platform tell it, and where a few platforms differ by nothing the data hardly bound its variance.
  double observation_variance() const;

  // Learns where it errs by more than elsewhere, from errors of observations that `points` [rows, coordinates] are the rows of
  // and that were forecast without their fold `left_out` [rows]; their local factors, by other folds, go to `local` [rows].
  void learn_spread(const SpreadEvidence& evidence, MatrixView<const float> points, std::span<const int> left_out, int threads,
                    std::span<double> local, const Control& control = {});
  const LocalSpread& local_spread() const;
  // As learnt before, with the surprise of each group of places.
  void set_local_spread(LocalSpread spread);

  // points [n, coordinates]. `left_out` [n], if any: places of this fold do not take part (kNoFold: all do).
  void predict(MatrixView<const float> points, const ProcessForecast& out, int threads, std::span<const int> left_out = {}) const;

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

// What the search for parameters found besides them.
struct ProcessFit {
  ProcessParameters parameters;
  double score = 0.0;  // mean negative log density of held-out observations
  int evaluations = 0;
};

// Parameters that best predict observations of tracks left out, or of folds where there are no tracks, by the mean log density.
// Throws Error where there are too few observations.
ProcessFit fit_process(Space space, bool has_time, const PlaceData& data, const ProcessSettings& settings,
                       const Control& control = {});

// Parameters and places together. group_of, if given: [observations] the group of places that each belongs to.
Process make_process(Space space, bool has_time, const PlaceData& data, const ProcessSettings& settings,
                     std::vector<std::uint32_t>* group_of = nullptr, const Control& control = {});

}  // namespace drift
