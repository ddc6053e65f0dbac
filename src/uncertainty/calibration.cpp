// Split conformal prediction: with scores r_i = |y_i - mean_i| / sd_i on n observations that training did not see, and q the
// ceil((n + 1) level)-th smallest of them, the interval mean -+ q sd of a new observation holds with probability at least
// `level`, because its own score is as likely to have any rank among the n + 1 (Papadopoulos et al. 2002; Lei, G'Sell, Rinaldo,
// Tibshirani & Wasserman 2018, section 5.2 for widths that follow a spread; Romano, Patterson & Candes 2019 for the same idea
// with quantiles). Nothing is asked of mean and sd. What is asked is exchangeability: it fails where the new observations lie
// elsewhere.

#include "drift/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

constexpr double kLargestScale = 100.0;
constexpr int kGridSteps = 32;  // a factor of 1.33 each: close enough for the search within to be of one valley
constexpr int kGoldenSteps = 40;

void check_lengths(std::size_t values, std::size_t means, std::size_t spreads) {
  if (values == 0) throw UsageError("calibration: there are no validation observations");
  if (values != means || values != spreads) {
    throw UsageError(fmt::format("calibration: {} values but {} means and {} standard deviations", values, means, spreads));
  }
}

// |y - mean| / sd, sorted.
std::vector<double> sorted_scores(std::span<const double> y, std::span<const double> mean, std::span<const double> sd) {
  check_lengths(y.size(), mean.size(), sd.size());
  std::vector<double> scores;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!(sd[i] > 0.0) || !std::isfinite(sd[i]) || !std::isfinite(y[i] - mean[i])) {
      throw UsageError(
          fmt::format("calibration: observation {} has value {}, mean {} and standard deviation {}; they must be "
                      "finite, the last more than zero",
                      i, y[i], mean[i], sd[i]));
    }
    scores.push_back(std::abs(y[i] - mean[i]) / sd[i]);
  }
  std::sort(scores.begin(), scores.end());
  return scores;
}

// independent: how many of the scores are, in effect.
double factor_of(const std::vector<double>& sorted, double level, double independent) {
  // A little less before rounding up: (n + 1) level may be a whole number that the product of doubles just misses.
  const double rank = std::ceil(static_cast<double>(sorted.size()) * (1.0 + 1.0 / independent) * level - 1e-9);
  if (rank > static_cast<double>(sorted.size())) return std::numeric_limits<double>::infinity();
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

class ScaledCrps {
 public:
  ScaledCrps(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, std::span<const double> noise)
      : y_(y), mean_(mean), sd_(sd), noise_(noise) {}

  double operator()(double log_scale) const {
    const double scale = std::exp(log_scale);
    double sum = 0.0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      sum += gaussian_crps(y_[i], mean_[i], total_sd(sd_[i], noise_.size() == 1 ? noise_[0] : noise_[i], scale));
    }
    return sum;
  }

 private:
  std::span<const double> y_, mean_, sd_, noise_;
};

double golden_section(const ScaledCrps& crps, double low, double high) {
  const double share = 0.5 * (std::sqrt(5.0) - 1.0);
  double a = high - share * (high - low), b = low + share * (high - low);
  double at_a = crps(a), at_b = crps(b);
  for (int i = 0; i < kGoldenSteps; ++i) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - share * (high - low);
      at_a = crps(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + share * (high - low);
      at_b = crps(b);
    }
  }
  return 0.5 * (low + high);
}

// Number of independent observations that determine the share of scores beyond a threshold equally well. Observations of one
// group share their errors in part: with their intraclass correlation r, by the analysis of variance, and the mean size m of the
// group that an observation is in, n / (1 + (m - 1) r) (Kish's design effect). Errors shared throughout: the number of groups, if
// equally large; errors of each observation's own: n.
double independent_observations(std::span<const double> scores, double threshold, std::span<const std::uint32_t> groups) {
  const auto n = static_cast<double>(groups.size());
  std::vector<double> size(*std::max_element(groups.begin(), groups.end()) + 1, 0.0), beyond(size.size(), 0.0);
  for (std::size_t i = 0; i < groups.size(); ++i) size[groups[i]] += 1.0, beyond[groups[i]] += scores[i] > threshold ? 1.0 : 0.0;
  const auto count = static_cast<double>(size.size());
  const double own_size = std::inner_product(size.begin(), size.end(), size.begin(), 0.0) / n;
  if (own_size <= 1.0 || count < 2.0) return own_size <= 1.0 ? n : 1.0;
  const double share = std::accumulate(beyond.begin(), beyond.end(), 0.0) / n;
  double between = 0.0, within = 0.0;
  for (std::size_t g = 0; g < size.size(); ++g) {
    const double own = beyond[g] / size[g];
    between += size[g] * (own - share) * (own - share) / (count - 1.0);
    within += size[g] * own * (1.0 - own) / (n - count);
  }
  const double mean_size = (n - own_size) / (count - 1.0);
  const double all = between + (mean_size - 1.0) * within;
  const double correlation = all > 0.0 ? std::clamp((between - within) / all, 0.0, 1.0) : 0.0;
  return n / (1.0 + (own_size - 1.0) * correlation);
}

}  // namespace

double total_sd(double sd_epistemic, double noise_sd, double scale) { return std::hypot(scale * sd_epistemic, noise_sd); }

double fit_spread_scale(std::span<const double> y, std::span<const double> mean, std::span<const double> sd_epistemic,
                        std::span<const double> noise_sd) {
  check_lengths(y.size(), mean.size(), sd_epistemic.size());
  if (noise_sd.size() != 1 && noise_sd.size() != y.size()) {
    throw UsageError(fmt::format("calibration: {} noise standard deviations for {} values", noise_sd.size(), y.size()));
  }
  const auto wrong = [](double sd) { return !(sd >= 0.0) || !std::isfinite(sd); };
  if (std::any_of(sd_epistemic.begin(), sd_epistemic.end(), wrong) || std::any_of(noise_sd.begin(), noise_sd.end(), wrong)) {
    throw UsageError("calibration: a standard deviation is negative or not a finite number");
  }
  if (std::all_of(sd_epistemic.begin(), sd_epistemic.end(), [](double sd) { return sd == 0.0; })) return 1.0;
  const ScaledCrps crps(y, mean, sd_epistemic, noise_sd);
  const double end = std::log(kLargestScale), step = 2.0 * end / kGridSteps;
  double best = -end, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kGridSteps; ++i) {
    const double here = crps(-end + i * step);
    if (!(here < least)) continue;
    least = here;
    best = -end + i * step;
  }
  if (!std::isfinite(least)) throw UsageError("calibration: a value or a mean is not a finite number");
  return std::exp(golden_section(crps, std::max(best - step, -end), std::min(best + step, end)));
}

double ConformalCalibration::factor(double level) const {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (std::abs(kLevels[i] - level) < 1e-9) return factors[i];
  }
  throw UsageError(
      fmt::format("calibration: no factor was fitted for the level {}; it must be 0.5, 0.8, 0.9, 0.95 or 0.99", level));
}

Interval ConformalCalibration::interval(double mean, double sd, double level) const {
  const double half_width = factor(level) * sd;
  return {mean - half_width, mean + half_width};
}

ConformalCalibration fit_conformal(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                                   std::span<const std::uint32_t> groups) {
  if (!groups.empty() && groups.size() != y.size()) {
    throw UsageError(fmt::format("conformal intervals: {} observations but {} groups", y.size(), groups.size()));
  }
  const std::vector<double> sorted = sorted_scores(y, mean, sd);
  std::vector<double> scores;  // in the observations' order
  for (std::size_t i = 0; i < groups.size(); ++i) scores.push_back(std::abs(y[i] - mean[i]) / sd[i]);
  ConformalCalibration calibration;
  calibration.observations = y.size();
  auto independent = static_cast<double>(y.size());
  for (const double level : ConformalCalibration::kLevels) {  // the least of all levels: few scores lie beyond the high ones
    if (groups.empty()) break;
    const auto rank = static_cast<std::size_t>(level * static_cast<double>(sorted.size() - 1));
    independent = std::min(independent, independent_observations(scores, sorted[rank], groups));
  }
  for (std::size_t i = 0; i < ConformalCalibration::kLevels.size(); ++i) {
    calibration.factors[i] = factor_of(sorted, ConformalCalibration::kLevels[i], independent);
  }
  return calibration;
}

}  // namespace drift
