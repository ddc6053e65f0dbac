// The parameters of a process from the observations alone. Each of some hundred targets is predicted from the observations of
// *other* tracks, as a map predicts between tracks; where there are no tracks, from those of other folds, which are blocks about
// as large as the gaps to be filled. The likelihood of near neighbours would decide by scales that no map depends on.
//
//   minimise  mean over targets of -log t_d(y; mean, V)  -  log prior / groups
//
// t_d is Student's t with d = 6 degrees of freedom and variance V: a few outliers do not decide. The prior is weak and keeps
// anisotropy, drift and track errors within reason where a handful of groups (tracks, or else blocks) cannot tell: observations
// of one group share their errors, so it is groups that count. The search is L-BFGS from the best of a
// scan over lengths in space and time; neighbours are chosen anew between rounds.

#include <Eigen/LU>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "math/minimise.h"
#include "process/place_finder.h"
#include "process/process.h"

namespace drift {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kDegrees = 6.0;     // of freedom
constexpr double kSide = 0.2;        // of a group's cell, in lengthscales
constexpr std::size_t kFewest = 20;  // observations
constexpr int kRounds = 3;

// Where the search for a second structure begins, and the middle of its prior.
struct Second {
  double share, length, time;
};
constexpr Second kFine = {0.2, 0.15, 0.0}, kLasting = {0.5, 3.0, 10.0};

struct Target {
  std::size_t row = 0;
  double value = 0.0;  // less the trend
  double error_variance = 0.0;
  std::int32_t platform = 0;
  LatitudeTerms latitude = {};
  Exclusion exclusion;
  Neighbourhood near;
};

struct Term {
  double value = 0.0;
  ProcessNumbers gradient = {};
};

// -log density of one target, and its gradient where wanted.
Term term_of(const ProcessParameters& everywhere, const Target& target, Kriging& kriging, bool gradient) {
  Term term;
  const ProcessParameters p = at_latitude(everywhere, target.latitude);
  kriging.solve(p, target.near, target.platform);
  const double error = target.value - kriging.mean();
  const double total = kriging.variance() + p.nugget + p.track_variance + target.error_variance;
  const double scale = total * (kDegrees - 2.0) / kDegrees;
  const double ratio = error * error / (kDegrees * scale);
  term.value = 0.5 * std::log(scale) + 0.5 * (kDegrees + 1.0) * std::log1p(ratio);
  if (!gradient) return term;
  const double d_mean = -(kDegrees + 1.0) * error / (kDegrees * scale * (1.0 + ratio));
  const double d_total = (0.5 - 0.5 * (kDegrees + 1.0) * ratio / (1.0 + ratio)) / total;
  kriging.add_gradient(d_mean, d_total, term.gradient);
  term.gradient[kNugget] += d_total * p.nugget;
  term.gradient[kTrackVariance] += d_total * p.track_variance;
  for (std::size_t i = 0; i < p.by_latitude.size(); ++i) {
    term.gradient.at(kByLatitude + i) =
        target.latitude.at(i % kLatitudeTerms) * term.gradient.at(kOfLatitude.at(i / kLatitudeTerms));
  }
  return term;
}

class Fitter {
 public:
  Fitter(Space space, bool has_time, const PlaceData& data, const ProcessSettings& settings, const Control& control)
      : space_(space),
        has_time_(has_time),
        data_(data),
        settings_(settings),
        control_(control),
        has_tracks_(!data.track.empty()) {
    if (data.size() < kFewest) throw Error("a process needs at least 20 observations");
    threads_ = threads_or_all(settings.threads);
    measure();
    set_bounds();
    fit_trend();
    draw_targets();
  }

  ProcessFit run() {
    start();
    const std::vector<double> smoothnesses =
        settings_.nu ? std::vector<double>{*settings_.nu} : std::vector<double>{0.5, 1.5, 2.5};
    parameters_.nu = smoothnesses.front();
    for (int round = 0; round < kRounds - 1; ++round) {
      choose_neighbours();
      parameters_ = searched(parameters_);
      report(0.2 * (round + 1));
    }
    choose_neighbours();
    ProcessFit best;
    for (std::size_t i = 0; i < smoothnesses.size(); ++i) {
      ProcessParameters from = parameters_;
      from.nu = smoothnesses[i];
      const ProcessParameters found = searched(from);
      const double score = objective(found, nullptr);
      if (i == 0) rough_ = found;
      if (i == 0 || score < best.score) best = {found, score, 0};
      report(0.4 + 0.4 * static_cast<double>(i + 1) / static_cast<double>(smoothnesses.size()));
      if (i > 0 && best.parameters.nu != smoothnesses[i]) break;  // smoother still would be worse still
    }
    if (!has_tracks_) {
      ProcessParameters from = rough_;
      from.length_x *= 1.5, from.length_y *= 1.5;
      try_second_structure(from, kFine, best);
    } else if (has_time_) {
      ProcessParameters from = best.parameters;
      from.length_x *= 0.7, from.length_y *= 0.7, from.time_length *= 0.5;
      try_second_structure(from, kLasting, best);
    }
    if (space_ == Space::sphere) vary_by_latitude(best);
    report(1.0);
    best.evaluations = evaluations_;
    return best;
  }

 private:
  void report(double share) const { control_.report(share, "fitting the process"); }

  // The nested model must be worth its parameters (Akaike's criterion). A fine structure goes with the roughest first one, of
  // longer lengths; where whole tracks are left out, no target has a neighbour close enough to tell of it. A lasting one goes
  // with a first one of shorter lengths, and takes tracks at several times to tell from it.
  void try_second_structure(ProcessParameters from, const Second& second, ProcessFit& best) {
    from.second_share = second.share, from.second_length = second.length, from.second_time = second.time;
    ProcessParameters found = searched(from);
    std::vector<Target> before = targets_;
    if (second.time > 0.0) {  // whose neighbours lie longer ago
      parameters_ = found;
      choose_neighbours();
      found = searched(found);
    }
    const double score = objective(found, nullptr), parameters = second.time > 0.0 ? 3.0 : 2.0;
    if (score + parameters / groups_ < best.score) {
      best = {found, score, 0};
    } else {
      targets_ = std::move(before);
    }
  }

  // Its prior alone decides how far: few groups move it little.
  void vary_by_latitude(ProcessFit& best) {
    by_latitude_ = true;
    const ProcessParameters found = searched(best.parameters);
    best = {found, objective(found, nullptr), 0};
  }

  // Extents, variance, tracks' durations.
  void measure() {
    const std::size_t n = data_.size(), columns = data_.coordinates.cols;
    const std::size_t spaces = columns - (has_time_ ? 1 : 0);
    std::array<double, 4> sum = {}, square = {};
    double values = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t d = 0; d < columns; ++d) {
        const auto x = static_cast<double>(data_.coordinates(i, d));
        sum.at(d) += x, square.at(d) += x * x;
      }
      values += static_cast<double>(data_.values[i]),
          squares += static_cast<double>(data_.values[i]) * static_cast<double>(data_.values[i]);
    }
    const auto count = static_cast<double>(n);
    double spread = 0.0;
    for (std::size_t d = 0; d < spaces; ++d) spread += square.at(d) / count - sum.at(d) * sum.at(d) / (count * count);
    extent_ = std::sqrt(std::max(spread, 1e-12));
    widest_ = space_ == Space::sphere ? std::min(extent_, 0.5) : extent_;
    if (has_time_) {
      const double mean = sum.at(columns - 1) / count;
      time_extent_ = std::sqrt(std::max(square.at(columns - 1) / count - mean * mean, 1e-12));
    }
    variance_ = std::max(squares / count - values * values / (count * count), 1e-12);
    groups_ = data_.groups > 0 ? static_cast<double>(data_.groups) : count / 20.0;
    if (!has_tracks_) return;
    std::vector<std::int32_t> tracks(data_.track.begin(), data_.track.end());
    std::sort(tracks.begin(), tracks.end());
    const auto distinct = std::unique(tracks.begin(), tracks.end()) - tracks.begin();
    groups_ = static_cast<double>(distinct);
    has_tracks_ = distinct >= 5;  // fewer cannot be left out in turn
    if (has_time_ && has_tracks_) track_time_ = 0.25 * median_duration();
  }

  double median_duration() const {
    std::vector<std::pair<std::int32_t, float>> times;
    const std::size_t last = data_.coordinates.cols - 1;
    for (std::size_t i = 0; i < data_.size(); ++i) times.emplace_back(data_.track[i], data_.coordinates(i, last));
    std::sort(times.begin(), times.end());
    std::vector<double> durations;
    for (std::size_t first = 0; first < times.size();) {
      std::size_t end = first;
      while (end < times.size() && times[end].first == times[first].first) ++end;
      durations.push_back(static_cast<double>(times[end - 1].second) - static_cast<double>(times[first].second));
      first = end;
    }
    std::nth_element(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2), durations.end());
    return durations[durations.size() / 2];
  }

  void set_bounds() {
    lowest_.fill(std::log(1e-6 * variance_)), highest_.fill(std::log(10.0 * variance_));
    lowest_[kLengthX] = lowest_[kLengthY] = std::log(0.01 * widest_);
    highest_[kLengthX] = highest_[kLengthY] = std::log(3.0 * extent_);
    lowest_[kTimeLength] = std::log(0.01 * time_extent_), highest_[kTimeLength] = std::log(30.0 * time_extent_);
    lowest_[kShear] = -3.0, highest_[kShear] = 3.0;
    lowest_[kSecondShare] = -5.0, highest_[kSecondShare] = 5.0;
    lowest_[kSecondLength] = std::log(has_tracks_ ? 0.3 : 0.01), highest_[kSecondLength] = std::log(has_tracks_ ? 30.0 : 0.7);
    lowest_[kSecondTime] = 0.0, highest_[kSecondTime] = std::log(1000.0);
    lowest_[kDriftX] = lowest_[kDriftY] = -3.0, highest_[kDriftX] = highest_[kDriftY] = 3.0;
    for (int i = kByLatitude; i < kProcessNumbers; ++i) lowest_.at(i) = -2.0, highest_.at(i) = 2.0;
    lowest_[kTrackTime] = std::log(std::max(1e-2 * track_time_, 1e-12));
    highest_[kTrackTime] = std::log(std::max(1e2 * track_time_, 1e-12));
  }

  // A linear trend on the plane by least squares; on the sphere the mean.
  void fit_trend() {
    Eigen::Matrix3d products = Eigen::Matrix3d::Zero();
    Eigen::Vector3d right = Eigen::Vector3d::Zero();
    const bool plane = space_ == Space::plane && data_.coordinates.cols - (has_time_ ? 1 : 0) == 2;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const float* row = data_.coordinates.row(i);
      const Eigen::Vector3d basis(1.0, plane ? static_cast<double>(row[0]) : 0.0, plane ? static_cast<double>(row[1]) : 0.0);
      products += basis * basis.transpose();
      right += static_cast<double>(data_.values[i]) * basis;
    }
    products.diagonal().array() += 1e-9 * static_cast<double>(data_.size());
    const Eigen::Vector3d found = products.inverse() * right;
    parameters_.trend = {found[0], found[1], found[2]};
  }

  double trend_at(const float* row) const {
    const std::array<double, 3>& trend = parameters_.trend;
    if (space_ == Space::sphere) return trend[0];
    return trend[0] + trend[1] * static_cast<double>(row[0]) + trend[2] * static_cast<double>(row[1]);
  }

  // Observations spread evenly over the rows, which run along tracks, with a random start in each stretch.
  void draw_targets() {
    const std::size_t count = std::min(settings_.targets, data_.size());
    RandomStream stream({.seed = settings_.seed, .purpose = Purpose::split}, 17);
    for (std::size_t i = 0; i < count; ++i) {
      const double from = static_cast<double>(i) * static_cast<double>(data_.size()) / static_cast<double>(count);
      const double to = static_cast<double>(i + 1) * static_cast<double>(data_.size()) / static_cast<double>(count);
      Target target;
      target.row = std::min(data_.size() - 1, static_cast<std::size_t>(from + stream.uniform() * (to - from)));
      target.value = static_cast<double>(data_.values[target.row]) - trend_at(data_.coordinates.row(target.row));
      if (space_ == Space::sphere) target.latitude = latitude_terms(static_cast<double>(data_.coordinates.row(target.row)[2]));
      if (!data_.error_variance.empty()) target.error_variance = static_cast<double>(data_.error_variance[target.row]);
      if (!data_.platform.empty()) target.platform = data_.platform[target.row];
      if (has_tracks_) {
        target.exclusion.track = data_.track[target.row];
      } else {
        target.exclusion.gap = 1e-6;  // itself
        if (!data_.fold.empty()) target.exclusion.fold = data_.fold[target.row];
      }
      targets_.push_back(std::move(target));
    }
  }

  void choose_neighbours() {
    const double both = std::sqrt(parameters_.length_x * parameters_.length_y);
    const CellSides sides = {has_tracks_ ? kSide * both : 0.0, has_tracks_ ? kSide * parameters_.time_length : 0.0};
    places_ = gather_places(space_, has_time_, data_, sides);
    const PlaceFinder finder(space_, has_time_, places_, search_parameters(parameters_));
    for_targets([&](Target& target) {
      finder.find(data_.coordinates.row(target.row), settings_.fit_neighbours, target.exclusion, Edges::sharp, target.near);
    });
    std::erase_if(targets_, [](const Target& target) { return target.near.size() < 3; });
    if (targets_.empty()) throw Error("the process needs observations on several tracks; are all of them on one?");
  }

  template <class Work>
  void for_targets(Work work) {
    std::atomic<std::size_t> next = 0;
    run_on_threads(threads_, [&](int) {
      for (std::size_t i = next++; i < targets_.size(); i = next++) work(targets_[i]);
    });
  }

  // The mean over targets and the prior. Sums are taken in the targets' order, whatever the threads.
  double objective(const ProcessParameters& p, ProcessNumbers* gradient) {
    control_.check_stop();
    std::vector<Term> terms(targets_.size());
    std::atomic<std::size_t> next = 0;
    run_on_threads(threads_, [&](int) {
      Kriging kriging;
      for (std::size_t i = next++; i < targets_.size(); i = next++) {
        terms[i] = term_of(p, targets_[i], kriging, gradient != nullptr);
      }
    });
    ++evaluations_;
    const double share = 1.0 / static_cast<double>(targets_.size());
    double value = 0.0;
    if (gradient) gradient->fill(0.0);
    for (const Term& term : terms) {
      value += share * term.value;
      for (int i = 0; gradient && i < kProcessNumbers; ++i) gradient->at(i) += share * term.gradient.at(i);
    }
    return value + prior(p, gradient);
  }

  // -log prior / groups: normal for the logarithms, and for the drifts.
  double prior(const ProcessParameters& p, ProcessNumbers* gradient) const {
    const ProcessNumbers x = packed(p);
    double value = 0.0;
    const auto pull = [&](double distance, double sd, int number, double sign = 1.0) {
      value += 0.5 * distance * distance / (sd * sd * groups_);
      if (gradient) gradient->at(number) += sign * distance / (sd * sd * groups_);
    };
    const double stretch = x[kLengthX] - x[kLengthY];
    pull(stretch, 0.7, kLengthX);
    if (gradient) gradient->at(kLengthY) -= stretch / (0.49 * groups_);
    pull(x[kShear], 0.7, kShear);
    if (p.second_share > 0.0) {
      const Second& middle = p.second_time > 0.0 ? kLasting : kFine;
      pull(x[kSecondShare] - std::log(middle.share / (1.0 - middle.share)), 1.5, kSecondShare);
      pull(x[kSecondLength] - std::log(middle.length), 1.0, kSecondLength);
      if (p.second_time > 0.0) pull(x[kSecondTime] - std::log(middle.time), 1.5, kSecondTime);
    }
    for (int i = kByLatitude; i < kProcessNumbers && by_latitude_; ++i) pull(x.at(i), 0.5, i);
    if (has_time_) pull(x[kDriftX], 1.0, kDriftX), pull(x[kDriftY], 1.0, kDriftY);
    // Long lengths with a large sill are alike within the data, and lengths below the distance between tracks are alike to noise:
    // the variances add up to that of the values, and lengths are a good part of the extent unless the data object.
    const double sill = std::exp(x[kSill]), nugget = std::exp(x[kNugget]), apart = std::log((sill + nugget) / variance_);
    pull(apart, 0.5, kSill, sill / (sill + nugget));
    if (gradient) gradient->at(kNugget) += apart / (0.25 * groups_) * nugget / (sill + nugget);
    const double length = 0.5 * (x[kLengthX] + x[kLengthY]) - std::log(0.2 * widest_);
    pull(length, 2.0, kLengthX, 0.5);
    if (gradient) gradient->at(kLengthY) += 0.5 * length / (4.0 * groups_);
    if (p.track_variance > 0.0) {
      pull(x[kTrackVariance] - std::log(0.01 * variance_), 1.5, kTrackVariance);
      pull(x[kTrackTime] - std::log(track_time_), 1.0, kTrackTime);
    }
    if (p.platform_variance > 0.0) pull(x[kPlatformVariance] - std::log(0.01 * variance_), 1.5, kPlatformVariance);
    return value;
  }

  std::vector<int> free_numbers(const ProcessParameters& p) const {
    std::vector<int> free = {kLengthX, kLengthY, kShear, kSill, kNugget};
    if (p.second_share > 0.0) free.insert(free.end(), {kSecondShare, kSecondLength});
    if (p.second_share > 0.0 && p.second_time > 0.0) free.push_back(kSecondTime);
    if (has_time_) free.insert(free.end(), {kTimeLength, kDriftX, kDriftY});
    if (p.track_variance > 0.0) free.insert(free.end(), {kTrackVariance, kTrackTime});
    if (p.platform_variance > 0.0) free.push_back(kPlatformVariance);
    const int varying = by_latitude_ ? (has_time_ ? kFrameNumbers : 2) * kLatitudeTerms : 0;
    for (int i = 0; i < varying; ++i) free.push_back(kByLatitude + i);
    return free;
  }

  ProcessParameters searched(const ProcessParameters& from) {
    const std::vector<int> free = free_numbers(from);
    const ProcessNumbers begin = packed(from);
    const auto count = static_cast<Index>(free.size());
    VectorXd start(count), low(count), high(count);
    for (Index i = 0; i < count; ++i) {
      const int number = free[static_cast<std::size_t>(i)];
      low[i] = lowest_.at(number), high[i] = highest_.at(number);
      start[i] = std::clamp(begin.at(number), low[i], high[i]);
    }
    const auto numbers_at = [&](const VectorXd& x) {
      ProcessNumbers numbers = begin;
      for (Index i = 0; i < count; ++i) numbers.at(free[static_cast<std::size_t>(i)]) = x[i];
      return numbers;
    };
    const auto f = [&](const VectorXd& x, VectorXd& gradient) {
      ProcessNumbers all;
      const double value = objective(unpacked(numbers_at(x), from), &all);
      for (Index i = 0; i < count; ++i) gradient[i] = all.at(free[static_cast<std::size_t>(i)]);
      return value;
    };
    return unpacked(numbers_at(minimise(f, start, low, high, 40).place), from);
  }

  // The best of some lengths in space and time, isotropic and at rest, by a part of the targets.
  void start() {
    parameters_.nu = 0.5;
    parameters_.sill = variance_;
    parameters_.nugget = 0.1 * variance_;
    parameters_.track_time = std::max(track_time_, 1e-9);
    if (has_time_ && has_tracks_ && track_time_ > 0.0) parameters_.track_variance = 0.01 * variance_;
    if (std::any_of(data_.platform.begin(), data_.platform.end(), [&](std::uint8_t p) { return p != data_.platform[0]; })) {
      parameters_.platform_variance = 0.01 * variance_;
    }
    std::vector<Target> all = targets_;
    if (all.size() > 300) {
      targets_.clear();
      for (std::size_t i = 0; i < 300; ++i) targets_.push_back(all[i * all.size() / 300]);
    }
    const std::vector<Target> some = targets_;
    ProcessParameters best = parameters_;
    double least = INFINITY;
    for (const double space : {0.5, 0.2, 0.08, 0.03, 0.012}) {
      for (const double time : has_time_ ? std::vector<double>{4.0, 1.2, 0.4, 0.12} : std::vector<double>{1.0}) {
        targets_ = some;
        parameters_.length_x = parameters_.length_y = space * widest_;
        parameters_.time_length = time * time_extent_;
        choose_neighbours();
        const double score = objective(parameters_, nullptr);
        if (score < least) least = score, best = parameters_;
      }
    }
    parameters_ = best;
    targets_ = std::move(all);
  }

  Space space_;
  bool has_time_;
  const PlaceData& data_;
  const ProcessSettings& settings_;
  const Control& control_;
  bool has_tracks_, by_latitude_ = false;
  int threads_ = 1;
  double extent_ = 1.0, widest_ = 1.0, time_extent_ = 1.0, variance_ = 1.0, groups_ = 1.0, track_time_ = 0.0;
  ProcessNumbers lowest_ = {}, highest_ = {};
  ProcessParameters parameters_, rough_;
  std::vector<Target> targets_;
  Places places_;
  int evaluations_ = 0;
};

}  // namespace

ProcessFit fit_process(Space space, bool has_time, const PlaceData& data, const ProcessSettings& settings,
                       const Control& control) {
  return Fitter(space, has_time, data, settings, control).run();
}

Process make_process(Space space, bool has_time, const PlaceData& data, const ProcessSettings& settings,
                     std::vector<std::uint32_t>* group_of, const Control& control) {
  const ProcessParameters found = fit_process(space, has_time, data, settings, control).parameters;
  control.check_stop();
  const bool tracks = !data.track.empty();
  const double both = std::sqrt(found.length_x * found.length_y);
  const CellSides sides = {tracks ? kSide * both : 0.0, tracks ? kSide * found.time_length : 0.0};
  return Process(space, has_time, found, gather_places(space, has_time, data, sides, group_of),
                 tracks ? settings.neighbours : settings.single_neighbours, tracks ? settings.far_neighbours : 0);
}

}  // namespace drift
