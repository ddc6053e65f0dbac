// A residual is the field's error and noise, r = e + n; the forecast says that e has the standard deviation scale * a. Of two
// observations a distance d apart
//
//   E[r_1 r_2] = scale^2 rho(d) a_1 a_2,   rho(0) = 1, falling,
//
// for their noises are independent. Geostatisticians know it as the nugget: what the variogram of the residuals keeps at short
// distances is noise, the rest is the field's. With u = r / t and v = a / t, t the size that residuals are taken to have,
// weighted least squares over pairs gives
//
//   q = sum u_1 u_2 v_1 v_2 / sum (v_1 v_2)^2  ~  scale^2 rho,   of variance about 1 / sum (v_1 v_2)^2.
//
// The nearer and the farther half of the pairs give two such numbers, and rho(d) = exp(-d/l) through both leads to d = 0.
// Outliers are cut at three standard deviations. Where the noise drowns all, q is uncertain, and the spread is left as it came:
// an ensemble's own spread is the best guess then.
//
// The values themselves have a nugget too: half the mean square of their differences is noise^2 + slope d at short distances. (Of
// a smooth field it grows as d^2; then too little noise is left, and none where the observations are far apart.)

#include <algorithm>
#include <cmath>
#include <vector>

#include "drift/calibration.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr double kCut = 3.0;
constexpr double kLargestScale = 100.0;
constexpr double kMostDecay = 2.0;  // that is made up for between the nearer pairs and none: more would be a guess
constexpr double kGuessSd = 1.0;    // of scale^2 before any pair was seen, about 1

struct Estimate {
  double value = 0.0;
  double precision = 0.0;  // 1 / variance
  double distance = 0.0;   // mean
};

// Of scale^2 rho; u and v as above.
Estimate shared(std::span<const Neighbours> pairs, std::span<const double> u, std::span<const double> v) {
  Estimate out;
  double products = 0.0;
  for (const Neighbours& pair : pairs) {
    const double spread = v[pair.first] * v[pair.second];
    products += u[pair.first] * u[pair.second] * spread;
    out.precision += spread * spread;
    out.distance += pair.distance / static_cast<double>(pairs.size());
  }
  if (out.precision > 0.0) out.value = products / out.precision;
  return out;
}

// The factor that leads from the nearer pairs to distance zero.
double decay(const Estimate& near, const Estimate& far) {
  if (!(near.value > 0.0) || !(far.distance > near.distance)) return 1.0;
  if (!(far.value > 0.0)) return kMostDecay;
  return std::clamp(std::pow(near.value / far.value, near.distance / (far.distance - near.distance)), 1.0, kMostDecay);
}

std::vector<Neighbours> by_distance(std::span<const Neighbours> pairs) {
  std::vector<Neighbours> sorted(pairs.begin(), pairs.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  return sorted;
}

// Half the variance of differences, from their median size, and the mean distance.
Estimate semivariance(std::span<const Neighbours> pairs, std::span<const double> value) {
  constexpr double kSdOverMedian = 1.4826;  // of |difference|, for Gaussian ones
  Estimate out;
  std::vector<double> sizes;
  for (const Neighbours& pair : pairs) {
    sizes.push_back(std::abs(value[pair.first] - value[pair.second]));
    out.distance += pair.distance / static_cast<double>(pairs.size());
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double sd = kSdOverMedian * *middle;
  out.value = 0.5 * sd * sd;
  return out;
}

}  // namespace

double nugget_sd(std::span<const double> value, std::span<const Neighbours> pairs) {
  if (pairs.size() < 2) return 0.0;
  const std::vector<Neighbours> sorted = by_distance(pairs);
  const std::span<const Neighbours> all(sorted);
  const Estimate near = semivariance(all.first(all.size() / 2), value), far = semivariance(all.subspan(all.size() / 2), value);
  const double apart = far.distance - near.distance;
  const double slope = apart > 0.0 ? std::max(0.0, far.value - near.value) / apart : 0.0;
  return std::sqrt(std::max(0.0, near.value - slope * near.distance));
}

double spread_scale_of_neighbours(std::span<const double> residual, std::span<const double> sd_epistemic,
                                  std::span<const double> sd_total, std::span<const Neighbours> pairs) {
  const std::size_t n = residual.size();
  if (sd_epistemic.size() != n || sd_total.size() != n) throw UsageError("calibration: residuals and spreads differ in number");
  std::vector<double> u(n), v(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(sd_total[i] > 0.0)) continue;  // nothing is expected of it, nothing learnt
    u[i] = std::clamp(residual[i] / sd_total[i], -kCut, kCut);
    v[i] = sd_epistemic[i] / sd_total[i];
  }
  const std::vector<Neighbours> sorted = by_distance(pairs);
  const std::span<const Neighbours> all(sorted);
  const Estimate near = shared(all.first(all.size() / 2), u, v), far = shared(all.subspan(all.size() / 2), u, v);
  const double prior = 1.0 / (kGuessSd * kGuessSd);
  const double square = (near.precision * near.value * decay(near, far) + prior) / (near.precision + prior);
  return std::clamp(std::sqrt(std::max(square, 0.0)), 1.0 / kLargestScale, kLargestScale);
}

}  // namespace drift
