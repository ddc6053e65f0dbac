#include "features/structured.h"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/random.h"

namespace drift {
void draw_structured(const FourierDraw& draw, std::size_t dimensions, const StructuredFrequencies& out) {
  const std::size_t n = hadamard_size(dimensions);
  const std::size_t features = out.phases.size();
  for (std::size_t row = 0; row < out.signs.rows; ++row) {
    RandomStream random = stream_for(draw.key, Purpose::signs, row);
    for (std::size_t i = 0; i < n; ++i) out.signs(row, i) = (random.bits() & 1U) == 0 ? 1.0f : -1.0f;
  }
  // H D_3 H D_2 H D_1 / n^(3/2) is orthogonal, so that a row of length chi_n is as long as a normal vector.
  const double unscale = std::pow(static_cast<double>(n), -1.5) / (2.0 * std::numbers::pi);
  for (std::size_t feature = 0; feature < out.lengths.size(); ++feature) {
    RandomStream random = stream_for(draw.key, Purpose::frequencies, feature);
    const double chi = std::sqrt(2.0 * random.gamma(static_cast<double>(n) / 2.0));
    const double scale = feature < features ? spectrum_scale(draw, feature) : 0.0;  // beyond the last feature: unused
    out.lengths[feature] = static_cast<float>(chi * scale * unscale);
    for (std::size_t i = 0; i < out.coordinates.rows && feature < features; ++i) {
      out.coordinates(i, feature) = static_cast<float>(random.normal() * scale / (2.0 * std::numbers::pi));
    }
  }
  draw_phases(draw.key, out.phases);
}

}  // namespace drift
