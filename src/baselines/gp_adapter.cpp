#include "baselines/gp_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/memory_limit.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "drift/parse_number.h"

namespace drift {

std::vector<MethodOption> covariance_options(const std::string& covariance_fallback, const std::string& nu_fallback) {
  return {{"nu", "smoothness of the Matérn covariance: 0.5, 1.5 or 2.5", nu_fallback},
          {"covariance", "coupling of space and time: joint (one distance) or product", covariance_fallback},
          {"lengthscale", "lengthscale in space, in the domain's unit; fitted if not given", "data"},
          {"time_lengthscale", "lengthscale in time, days; fitted if not given", "data"}};
}

double nu_setting(const MethodSettings& settings) {
  return *parse_number<double>(settings.word("nu", "1.5", {"0.5", "1.5", "2.5"}));
}

CovarianceSettings covariance_settings(const MethodSettings& settings, const Domain& domain,
                                       const std::string& covariance_fallback) {
  CovarianceSettings out;
  out.nu = nu_setting(settings);
  out.nu_given = settings.has("nu");
  out.joint = settings.either("joint", "product", "covariance", covariance_fallback == "joint");
  out.lengthscales.resize(2);
  if (const auto given = settings.number("lengthscale", 1e-9, 1e9)) out.lengthscales[0] = lengthscale_to_engine(domain, *given);
  if (const auto given = settings.number("time_lengthscale", 1e-9, 1e9)) {
    out.lengthscales[1] = time_lengthscale_to_engine(domain, *given);
  }
  return out;
}

gp::KernelSpec kernel_of(const InterpolatorData& data, const CovarianceSettings& settings, bool chord) {
  const Space space = chord ? Space::plane : data.space;
  return gp::space_time_kernel(space, data.space_coordinates, data.has_time(), {Family::matern, settings.nu}, settings.joint);
}

gp::KernelSpec kernel_of(const Domain& domain, bool has_time, const CovarianceSettings& settings, bool chord) {
  return gp::space_time_kernel(chord ? Space::plane : space_of(domain), space_coordinates(domain), has_time,
                               {Family::matern, settings.nu}, settings.joint);
}

std::vector<double> lengthscales_of(const gp::KernelParameters& kernel) {
  std::vector<double> out;
  for (Eigen::Index i = 0; i + 1 < kernel.size() && i < 2; ++i) out.push_back(std::exp(kernel[i]));
  return out;
}

gp::GpData gp_data(const std::string& method, const InterpolatorData& data, std::size_t least) {
  const MatrixView<const float> x = data.training.coordinates;
  const auto& weights = data.training.weights;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (weights.empty() || weights[i] > 0.0F) rows.push_back(i);
  }
  if (rows.size() < least) {
    throw Error(fmt::format("method {}: {} observations are too few, it needs {}", method, rows.size(), least));
  }
  gp::GpData out;
  const auto n = static_cast<Eigen::Index>(rows.size());
  out.points.resize(static_cast<Eigen::Index>(x.cols), n);
  out.values.resize(n);
  const bool known = data.given_noise_sd || !data.noise_sd.empty();
  out.known_variance.resize(known ? n : 0);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t row = rows[static_cast<std::size_t>(i)];
    for (std::size_t d = 0; d < x.cols; ++d) out.points(static_cast<Eigen::Index>(d), i) = x(row, d);
    out.values[i] = data.training.values(row, 0);
    const double error = data.given_noise_sd     ? *data.given_noise_sd
                         : data.noise_sd.empty() ? 0.0
                                                 : static_cast<double>(data.noise_sd[row]);
    if (!out.points.col(i).allFinite() || !std::isfinite(out.values[i]) || !std::isfinite(error) || error < 0.0) {
      throw Error(fmt::format("method {}: row {} of the observations holds a number that is not finite, or a negative error",
                              method, row));
    }
    if (known) out.known_variance[i] = error * error;
    if (!data.fold.empty()) out.fold.push_back(data.fold[row]);
  }
  return out;
}

double free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double kilobytes = 0.0;
    if (words >> name >> kilobytes && name == "MemAvailable:") return std::min(1024.0 * kilobytes, memory_limit_bytes());
  }
  return memory_limit_bytes();
}

void require_memory(const std::string& method, std::size_t observations, double bytes, const std::string& advice) {
  const double there = free_memory_bytes();
  if (bytes <= there) return;
  throw Error(fmt::format("method {}: {} observations need {:.1f} GB of memory and {:.1f} GB are free; {}", method,
                          grouped(observations), bytes * 1e-9, there * 1e-9, advice));
}

namespace {

// One block, from rows to out.
void predict_block(MatrixView<const float> points, std::size_t first, std::size_t count, double noise_variance,
                   const PointForecast& out, const BlockForecast& f) {
  const auto m = static_cast<Eigen::Index>(count);
  Eigen::MatrixXd x(static_cast<Eigen::Index>(points.cols), m);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < points.cols; ++d) {
      x(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(i)) = points(first + i, d);
    }
  }
  Eigen::VectorXd mean(m);
  Eigen::VectorXd variance(m);
  Eigen::VectorXd noise = Eigen::VectorXd::Constant(m, noise_variance);
  f(x, mean, variance, noise);
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (!out.mean.empty()) out.mean[first + i] = mean[k];
    if (!out.sd_epistemic.empty()) out.sd_epistemic[first + i] = std::sqrt(std::max(0.0, variance[k]));
    if (!out.sd_total.empty()) out.sd_total[first + i] = std::sqrt(std::max(0.0, variance[k]) + noise[k]);
  }
}

}  // namespace

void predict_in_blocks(const std::string& method, MatrixView<const float> points, std::size_t dimensions, std::size_t block,
                       int threads, double noise_variance, const PointForecast& out, const BlockForecast& f) {
  if (points.rows == 0) return;
  if (points.cols != dimensions) {
    throw UsageError(
        fmt::format("method {}: the points have {} coordinates, but the observations had {}", method, points.cols, dimensions));
  }
  const std::size_t blocks = (points.rows + block - 1) / block;
  const int used = std::clamp(threads_or_all(threads), 1, static_cast<int>(std::min<std::size_t>(blocks, 1024)));
  std::atomic<std::size_t> next = 0;  // who takes a block does not change it
  run_on_threads(used, [&](int) {
    for (std::size_t b = next++; b < blocks; b = next++) {
      const std::size_t first = b * block;
      predict_block(points, first, std::min(block, points.rows - first), noise_variance, out, f);
    }
  });
}

double new_observation_variance(const gp::GpParameters& parameters, const gp::GpData& data) {
  return parameters.noise_variance() + (data.known_variance.size() > 0 ? data.known_variance.mean() : 0.0);
}

std::vector<std::pair<std::string, std::string>> parameter_findings(const gp::GpParameters& parameters, const Domain& domain) {
  const Eigen::Index q = parameters.kernel.size() - 1;
  std::vector<std::pair<std::string, std::string>> out;
  const double space = lengthscale_from_engine(domain, std::exp(parameters.kernel[0]));
  out.emplace_back("lengthscale", fmt::format("{:.4g} {}", space, domain.unit));
  if (q > 1) {
    const double time = time_lengthscale_from_engine(domain, std::exp(parameters.kernel[1]));
    out.emplace_back("time lengthscale", fmt::format("{:.4g} days", time));
  }
  out.emplace_back("amplitude", fmt::format("{:.4g}", sd_from_engine(domain, std::exp(parameters.kernel[q]))));
  out.emplace_back("noise sd", fmt::format("{:.4g}", sd_from_engine(domain, std::exp(parameters.log_noise))));
  out.emplace_back("mean", fmt::format("{:.4g}", domain.value.from_engine(parameters.mean)));
  return out;
}

}  // namespace drift
