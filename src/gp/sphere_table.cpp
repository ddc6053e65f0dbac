#include "gp/sphere_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "features/spherical.h"
#include "gp/sphere_sums.h"

namespace drift::gp {
namespace {

// Of the sum over degrees that a table holds. `nodes`: per degree, for both halves together. The highest degrees of Matérn hold
// little, and two nodes a half-wave are enough for them, but for 1/2; those of the heat covariance are few for its lengthscale.
struct Resolution {
  double tail_mass, nodes;
};
Resolution resolution_of(const Covariance& covariance) {
  switch (covariance.family) {
    case Family::matern:
      return {SphereTable::kTailMass, covariance.nu < 1.0 ? 8.0 : 4.0};
    case Family::squared_exponential:
      return {SphereTable::kHeatTailMass, 11.0};
  }
  throw UsageError("there is no such covariance on the sphere");
}
constexpr double kLeastNodes = 512.0;

// Mass and its slope in log l of every degree; mirrored: for P_n(-x) = (-1)^n P_n(x).
struct Coefficients {
  std::vector<double> mass, slope;

  Coefficients(const SphericalSpectrum& spectrum, bool mirrored) {
    for (int n = 0; n <= spectrum.max_degree(); ++n) {
      mass.push_back((mirrored && n % 2 == 1 ? -1.0 : 1.0) * spectrum.mass(n));
      slope.push_back(mass.back() * spectrum.log_mass_slope(n));
    }
  }
};

}  // namespace

SphereTable::SphereTable(const Covariance& covariance, double lengthscale) {
  const auto [tail_mass, nodes_per_degree] = resolution_of(covariance);
  const SphericalSpectrum spectrum(covariance, lengthscale, tail_mass, kMaxDegree);
  degrees_ = spectrum.max_degree() + 1;
  const double whole = std::max(kLeastNodes, nodes_per_degree * degrees_);
  spacing_ = 2.0 / whole;
  const auto count = static_cast<std::size_t>(std::numbers::sqrt2 / spacing_) + 2;
  std::vector<double> gaps(count);
  for (std::size_t i = 0; i < count; ++i) gaps[i] = 0.5 * std::pow(spacing_ * static_cast<double>(i), 2);

  for (const bool mirrored : {false, true}) {
    const Coefficients coefficients(spectrum, mirrored);
    std::array<std::vector<double>, 4> sums;
    LegendreSums job{.a = coefficients.mass.data(),
                     .b = coefficients.slope.data(),
                     .degrees = coefficients.mass.size(),
                     .gap = gaps.data(),
                     .n = count};
    for (std::size_t k = 0; k < 4; ++k) {
      sums[k].resize(count);
      job.out[k] = sums[k].data();
    }
    legendre_sums(job);
    Nodes& nodes = mirrored ? far_ : near_;
    nodes.resize(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const double by_chord = -spacing_ * spacing_ * static_cast<double>(i);  // d(1 - c^2 / 2)/dc, a spacing a unit
      nodes[i] = {sums[0][i], by_chord * sums[1][i], sums[2][i], by_chord * sums[3][i]};
    }
    nodes[count] = nodes[count - 1];  // never weighs anything
  }
}

void SphereTable::evaluate(const double* squared_chord, std::size_t n, double* value, double* pull, double* log_slope) const {
  const double inverse = 1.0 / spacing_;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_near = squared_chord[i] <= 2.0;
    const double c = std::sqrt(is_near ? squared_chord[i] : std::max(0.0, 4.0 - squared_chord[i]));
    const double place = c * inverse;
    const auto k = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(k);
    const Node& a = is_near ? near_[k] : far_[k];
    const Node& b = is_near ? near_[k + 1] : far_[k + 1];
    const double s = 1.0 - t;
    const double h0 = (1.0 + 2.0 * t) * s * s;
    const double h1 = t * t * (3.0 - 2.0 * t);
    const double g0 = t * s * s;
    const double g1 = -t * t * s;
    value[i] = h0 * a.value + h1 * b.value + g0 * a.slope + g1 * b.slope;
    if (pull != nullptr) {
      const double slope = 6.0 * t * s * (b.value - a.value) + (1.0 - 3.0 * t) * s * a.slope - t * (2.0 - 3.0 * t) * b.slope;
      // To the antipode c' = sqrt(4 - c^2), dc'/dc = -c / c'.
      pull[i] = c > 0.0 ? (is_near ? -1.0 : 1.0) * slope * inverse / c : 0.0;
    }
    if (log_slope != nullptr) {
      log_slope[i] = h0 * a.log_slope + h1 * b.log_slope + g0 * a.log_slope_slope + g1 * b.log_slope_slope;
    }
  }
}

}  // namespace drift::gp
