#pragma once

#include <cstddef>
#include <span>

#include "core/random.h"
#include "drift/matrix_view.h"
#include "drift/network_spec.h"

namespace drift {

// Random Fourier features of a stationary covariance on R^d (Rahimi & Recht 2007):
//   phi_j(x) = sigma sqrt(2/H) cos(w_j . x / l + b_j),   E[phi(x) . phi(y)] = k(x, y),
// with w ~ N(0, I) for the squared exponential and w = z / sqrt(u / 2 nu), z ~ N(0, I), u ~ chi^2_{2 nu} for Matérn: one u a
// feature, shared by its coordinates (the multivariate t).
struct FourierDraw {
  Covariance covariance;
  Frequencies frequencies = Frequencies::independent;
  RandomKey key;  // its purpose is set by the draw
};

// Fills unit-lengthscale frequencies [d, features] in turns (w / 2 pi) and phases [features] in turns, in [0, 1).
// A feature takes its numbers from its own substream: drawing more does not change the first ones (but for the rounding of an
// orthogonal block that was not full).
// Finite for every nu > 0: the heaviest tails are bounded (fourier.cpp). Throws UsageError on shapes that do not fit.
void draw_fourier(const FourierDraw& draw, MatrixView<float> frequencies, std::span<float> phases);

// The parts of it that other ways of drawing share: the frequencies alone, a Matérn feature's 1 / sqrt(u / 2 nu), bounded (1 for
// the squared exponential), and the phases.
void draw_frequencies(const FourierDraw& draw, MatrixView<float> frequencies);
double spectrum_scale(const FourierDraw& draw, std::size_t feature);
void draw_phases(const RandomKey& key, std::span<float> phases);

}  // namespace drift
