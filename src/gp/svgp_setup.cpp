#include "gp/svgp_setup.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gp/inducing.h"
#include "gp/svgp_natural.h"
#include "math/eigen_index.h"
#include "train/batches.h"

namespace drift::gp {
namespace {

constexpr double kNoiseShare = 0.1;         // of the values' variance
constexpr std::size_t kFewInducing = 500;   // up to so many are cheap
constexpr double kHiddenLengthscale = 1.0;  // of hidden layers' deviations, in standard deviations of their inputs
constexpr double kHiddenAmplitude = 0.1;    // of the same
constexpr double kHiddenRoot = 1e-3;        // S of hidden layers

// [D, count] observations by their key.
Eigen::MatrixXd some_positions(const GpData& data, std::size_t count, std::uint64_t seed) {
  const Shuffle shuffle(static_cast<std::uint64_t>(data.size()), seed, 0, 0xffffffffU);
  Eigen::MatrixXd out(data.points.rows(), index(count));
  for (std::size_t i = 0; i < count; ++i) out.col(index(i)) = data.points.col(index(shuffle(i)));
  return out;
}

// Root of the mean variance of the coordinates [first, first + count).
double extent(const Eigen::MatrixXd& x, Eigen::Index first, Eigen::Index count) {
  const auto rows = x.middleRows(first, count);
  const double variance = (rows.colwise() - rows.rowwise().mean()).squaredNorm() / static_cast<double>(rows.size());
  return variance > 1e-12 ? std::sqrt(variance) : 1.0;
}

// A few spacings of the inducing points, if they filled a cube of the data's extent.
double lengthscale_share(std::size_t inducing, Eigen::Index dimensions) {
  return std::clamp(3.0 * std::pow(static_cast<double>(inducing), -1.0 / static_cast<double>(dimensions)), 0.1, 1.0);
}

KernelParameters first_kernel(const KernelSpec& spec, const Eigen::MatrixXd& x, double share, double amplitude) {
  KernelParameters out(spec.lengthscales + 1);
  for (int l = 0; l < spec.lengthscales; ++l) {
    double squares = 0.0;
    int used = 0;
    for (const KernelPart& part : spec.parts) {
      for (int d = 0; d < part.count; ++d) {
        const auto which = part.space == Space::sphere ? 0U : static_cast<unsigned>(d);
        if (part.lengthscale_of[which] != l) continue;
        squares += std::pow(extent(x, part.first + d, 1), 2);
        ++used;
      }
    }
    out[l] = std::log(share * std::sqrt(squares / std::max(used, 1)));
  }
  out[spec.lengthscales] = std::log(amplitude);
  return out;
}

Eigen::VectorXd scale_of_coordinates(const KernelSpec& spec, const KernelParameters& kernel) {
  Eigen::VectorXd out = Eigen::VectorXd::Ones(spec.dimensions);
  for (const KernelPart& part : spec.parts) {
    for (int d = 0; d < part.count; ++d) {
      out[part.first + d] = std::exp(kernel[part.lengthscale_of[part.space == Space::sphere ? 0U : static_cast<unsigned>(d)]]);
    }
  }
  return out;
}

}  // namespace

Eigen::MatrixXd skip_matrix(Points x, int outputs) {
  const Eigen::Index d = x.rows();
  if (outputs >= d) return Eigen::MatrixXd::Identity(d, outputs);
  const Eigen::MatrixXd centred = x.colwise() - x.rowwise().mean();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(centred * centred.transpose());
  return solver.eigenvectors().rightCols(outputs).rowwise().reverse();
}

SvgpSettings settled(SvgpSettings settings, std::size_t observations) {
  const auto share = static_cast<std::size_t>(settings.inducing_share * static_cast<double>(observations));
  settings.inducing = std::min({settings.inducing, observations, std::max(share, kFewInducing)});
  // A deep process multiplies its columns by the draws, and gains nothing from seeing everything at once.
  const bool whole = settings.layers == 1 && observations <= settings.whole;
  settings.batch = whole ? observations : std::min(settings.batch, observations);
  if (!settings.natural) settings.natural = whole || settings.inducing <= kMostForNatural;
  return settings;
}

template <class Real>
SvgpStart<Real> start_svgp(const GpData& data, const SvgpSettings& settings) {
  const auto n = static_cast<std::size_t>(data.size());
  const std::size_t count = std::min(settings.inducing, n);
  const KernelSpec& first = settings.kernel;
  const bool sphere = first.parts.front().space == Space::sphere;
  Eigen::MatrixXd x = some_positions(data, inducing_candidates(count, n), settings.seed);
  SvgpStart<Real> out;
  out.mean = data.values.mean();
  const double variance = (data.values.array() - out.mean).square().mean();
  const double sd = variance > 1e-12 ? std::sqrt(variance) : 1.0;
  out.spec.likelihood = settings.likelihood;
  out.spec.draws = settings.draws;
  out.parameters.log_scale = std::log(std::sqrt(kNoiseShare) * sd);
  const double share = lengthscale_share(count, x.rows() - (sphere ? 1 : 0));
  Eigen::MatrixXd z = choose_inducing(x, scale_of_coordinates(first, first_kernel(first, x, share, 1.0)),
                                      {.count = count,
                                       .kmeans = settings.kmeans,
                                       .seed = settings.seed,
                                       .sphere_first = sphere ? first.parts.front().first : -1,
                                       .threads = settings.threads});
  for (int l = 0; l < settings.layers; ++l) {
    const bool last = l + 1 == settings.layers;
    LayerSpec layer;
    layer.where =
        fmt::format("inducing points of {}{}", settings.method, settings.layers == 1 ? "" : fmt::format("'s layer {}", l + 1));
    layer.kernel = l == 0 ? first : planar_kernel(static_cast<int>(x.rows()), settings.hidden_covariance);
    layer.outputs = last ? 1 : (settings.width > 0 ? settings.width : static_cast<int>(x.rows()));
    if (!last) layer.skip = skip_matrix(x, layer.outputs);
    KernelParameters kernel =
        last ? first_kernel(layer.kernel, x, share, sd) : first_kernel(layer.kernel, x, kHiddenLengthscale, kHiddenAmplitude);
    for (std::size_t k = 0; l == 0 && k < settings.lengthscales.size() && index(k) + 1 < kernel.size(); ++k) {
      if (settings.lengthscales[k]) kernel[index(k)] = std::log(*settings.lengthscales[k]);
    }
    out.parameters.layers.push_back(initial_layer<Real>(layer, z, kernel, last ? 1.0 : kHiddenRoot));
    if (!last) {
      x = Eigen::MatrixXd(layer.skip.transpose() * x);
      z = Eigen::MatrixXd(layer.skip.transpose() * z);
    }
    out.spec.layers.push_back(std::move(layer));
  }
  return out;
}

double svgp_bytes(const SvgpSettings& settings, std::size_t observations, int coordinates) {
  const std::size_t m = std::min(settings.inducing, observations), batch = std::min(settings.batch, observations);
  const auto width = static_cast<std::size_t>(settings.width > 0 ? settings.width : coordinates);
  double bytes = 0.0;
  std::size_t columns = batch;
  for (int l = 0; l < settings.layers; ++l) {
    const bool last = l + 1 == settings.layers;
    columns = batch * static_cast<std::size_t>(l == 0 ? 1 : settings.draws);
    bytes += layer_bytes<float>(m, last ? 1 : width, columns);
  }
  bytes += NaturalSteps::bytes(m, columns);  // Adam's start takes some too
  return bytes + 16.0 * static_cast<double>(coordinates) * static_cast<double>(inducing_candidates(m, observations));
}

template SvgpStart<float> start_svgp<float>(const GpData&, const SvgpSettings&);
template SvgpStart<double> start_svgp<double>(const GpData&, const SvgpSettings&);

}  // namespace drift::gp
