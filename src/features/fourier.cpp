// Frequencies of random Fourier features.
//   independent: w_j = z_j, z_j ~ N(0, I_d)                         Rahimi & Recht 2007
//   orthogonal:  w_j = |z_j| q_j, q_1 ... q_d the Gram-Schmidt orthonormalisation of z_1 ... z_d, block by block
//                                                                   Yu et al., "Orthogonal random features", 2016
// The matrix of the z's is Q R with Q Haar-distributed, R's diagonal positive, and Q independent of R. The norms |z_j| are
// those of R's columns: hence independent of Q and, the z's being independent, of each other, each with the distribution chi_d.
// So every w_j is N(0, I_d) on its own, the covariance is right on average, and only the directions within a block repel.
// Matérn: both divided by sqrt(G_j / nu), G_j ~ Gamma(nu, 1), which is sqrt(u_j / 2 nu) with u_j ~ chi^2_{2 nu}.

#include "features/fourier.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "drift/error.h"
#include "features/covariance.h"

namespace drift {

namespace {

// [d, count]: column i is the normal vector of feature first + i.
Eigen::MatrixXd normal_columns(const RandomKey& key, std::size_t first, Eigen::Index d, Eigen::Index count) {
  Eigen::MatrixXd columns(d, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    RandomStream random = stream_for(key, Purpose::frequencies, first + static_cast<std::size_t>(i));
    for (Eigen::Index c = 0; c < d; ++c) columns(c, i) = random.normal();
  }
  return columns;
}

// Orthogonal columns of the same norms, count <= d.
Eigen::MatrixXd orthogonalised(const Eigen::MatrixXd& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  Eigen::MatrixXd result = qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
  for (Eigen::Index i = 0; i < columns.cols(); ++i) {
    // Householder's R has diagonal entries of either sign; Q is Haar-distributed only once they are made positive.
    const double sign = qr.matrixQR()(i, i) < 0.0 ? -1.0 : 1.0;
    result.col(i) *= sign * columns.col(i).norm();
  }
  return result;
}

void check_draw(const FourierDraw& draw, const MatrixView<float>& frequencies) {
  if (frequencies.rows == 0) throw UsageError("features: Fourier features need at least one coordinate");
  check(draw.covariance);
}

}  // namespace

double spectrum_scale(const FourierDraw& draw, std::size_t feature) {
  return draw_mixture_scale(draw.covariance, stream_for(draw.key, Purpose::spectrum, feature));
}

void draw_phases(const RandomKey& key, std::span<float> phases) {
  for (std::size_t feature = 0; feature < phases.size(); ++feature) {
    const auto phase = static_cast<float>(stream_for(key, Purpose::phases, feature).uniform());
    phases[feature] = phase < 1.0f ? phase : 0.0f;  // rounding to float may reach 1: a full turn, which is none
  }
}

void draw_frequencies(const FourierDraw& draw, MatrixView<float> frequencies) {
  check_draw(draw, frequencies);
  const bool orthogonal = draw.frequencies != Frequencies::independent;  // structured: only hidden inputs are (structured.h)
  const std::size_t d = frequencies.rows;
  const std::size_t features = frequencies.cols;
  const std::size_t block = orthogonal ? d : 1;
  for (std::size_t first = 0; first < features; first += block) {
    const std::size_t count = std::min(block, features - first);
    Eigen::MatrixXd columns = normal_columns(draw.key, first, static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(count));
    if (orthogonal) columns = orthogonalised(columns);
    for (std::size_t i = 0; i < count; ++i) {
      const double turns = spectrum_scale(draw, first + i) / (2.0 * std::numbers::pi);
      for (std::size_t c = 0; c < d; ++c) {
        frequencies(c, first + i) =
            static_cast<float>(turns * columns(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(i)));
      }
    }
  }
}

void draw_fourier(const FourierDraw& draw, MatrixView<float> frequencies, std::span<float> phases) {
  if (frequencies.cols != phases.size()) {
    throw UsageError(
        fmt::format("features: frequencies [{}, {}] but {} phases", frequencies.rows, frequencies.cols, phases.size()));
  }
  draw_frequencies(draw, frequencies);
  draw_phases(draw.key, phases);
}

}  // namespace drift
