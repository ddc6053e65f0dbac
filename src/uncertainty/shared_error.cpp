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
// The values themselves show the noise too. Half the mean square of differences between neighbours (the variogram) is noise^2 and
// something that grows with their distance; so is that of differences from the mean of two neighbours on either side, over 1.5
// (Gasser, Sroka & Jennen-Steinmetz 1986), where the field's slope cancels. A line leads both back to distance zero, right
// for rough fields and too far down for smooth ones: the larger of the two is nearer to the noise.

#include <algorithm>
#include <cmath>
#include <vector>

#include "drift/calibration.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr double kCut = 3.0;
constexpr double kLargestFactor = 100.0;
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

template <class Place>
std::vector<Place> by_distance(std::span<const Place> places) {
  std::vector<Place> sorted(places.begin(), places.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  return sorted;
}

// Of the noise, from the median difference, which has `noises` of it, and the mean distance.
Estimate noise_variance(std::span<const Between> triples, std::span<const double> value, double noises) {
  constexpr double kSdOverMedian = 1.4826;  // of |difference|, for Gaussian ones
  Estimate out;
  std::vector<double> sizes;
  for (const Between& triple : triples) {
    sizes.push_back(std::abs(value[triple.middle] - 0.5 * (value[triple.one] + value[triple.other])));
    out.distance += triple.distance / static_cast<double>(triples.size());
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double sd = kSdOverMedian * *middle;
  out.value = sd * sd / noises;
  return out;
}

// At distance zero, by a line through the nearer and the farther half.
double led_back(std::span<const Between> triples, std::span<const double> value, double noises) {
  if (triples.size() < 2) return 0.0;
  const std::vector<Between> sorted = by_distance(triples);
  const std::span<const Between> all(sorted);
  const Estimate near = noise_variance(all.first(all.size() / 2), value, noises),
                 far = noise_variance(all.subspan(all.size() / 2), value, noises);
  const double apart = far.distance - near.distance;
  const double slope = apart > 0.0 ? std::max(0.0, far.value - near.value) / apart : 0.0;
  return std::max(0.0, near.value - slope * near.distance);
}

}  // namespace

double nugget_sd(std::span<const double> value, std::span<const Neighbours> pairs, std::span<const Between> triples) {
  std::vector<Between> differences;
  for (const Neighbours& pair : pairs) differences.push_back({pair.first, pair.second, pair.second, pair.distance});
  return std::sqrt(std::max(led_back(differences, value, 2.0), led_back(triples, value, 1.5)));
}

double outlier_share(std::span<const double> value, std::span<const Between> triples, double noise_sd) {
  if (!(noise_sd > 0.0)) return 0.0;
  const double limit = 5.0 * std::sqrt(1.5) * noise_sd;  // the middle's noise, and a quarter of each of the two others' variances
  std::vector<bool> seen(value.size()), fits(value.size());
  for (const Between& triple : triples) {
    seen[triple.middle] = true;
    if (std::abs(value[triple.middle] - 0.5 * (value[triple.one] + value[triple.other])) <= limit) fits[triple.middle] = true;
  }
  std::size_t all = 0, off = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    all += seen[i] ? 1 : 0;
    off += seen[i] && !fits[i] ? 1 : 0;
  }
  return all == 0 ? 0.0 : static_cast<double>(off) / static_cast<double>(all);
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
  return std::clamp(std::sqrt(std::max(square, 0.0)), 1.0 / kLargestFactor, kLargestFactor);
}

}  // namespace drift
