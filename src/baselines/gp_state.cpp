#include "baselines/gp_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "math/eigen_index.h"

namespace drift {
namespace {

std::size_t size(Eigen::Index i) { return static_cast<std::size_t>(i); }
// exp of a fitted logarithm has to be a number that covariances can be made of.
constexpr double kMostLog = 300.0;

void check_log(double log, const std::string& name) {
  if (std::abs(log) > kMostLog) throw Error(fmt::format("\"{}\" of the method's state is {}, out of range", name, log));
}

}  // namespace

bool has_time(const Domain& domain, std::size_t dimensions) {
  const auto space = static_cast<std::size_t>(space_coordinates(domain));
  if (dimensions != space && dimensions != space + 1)
    throw Error(fmt::format("the method's observations have {} coordinates but its domain {}", dimensions, space));
  return dimensions > space;
}

double smoothness_of(const State& state) {
  const double nu = state.number("nu", 0.5, 2.5);
  if (nu != 0.5 && nu != 1.5 && nu != 2.5)
    throw Error(fmt::format("\"nu\" of the method's state is {}, not 0.5, 1.5 or 2.5", nu));
  return nu;
}

void put_matrix(State& state, const std::string& name, const Eigen::MatrixXd& matrix) {
  state.put(name, {size(matrix.cols()), size(matrix.rows())}, std::vector<double>(matrix.data(), matrix.data() + matrix.size()));
}

Eigen::MatrixXd matrix_of(const State& state, const std::string& name, std::size_t rows, std::size_t columns) {
  const std::span<const double> numbers = state.tensor<double>(name, {columns, rows});
  return Eigen::Map<const Eigen::MatrixXd>(numbers.data(), index(rows), index(rows > 0 ? numbers.size() / rows : 0));
}

void put_observations(State& state, const gp::GpData& data) {
  const auto to_float = [](const auto& numbers) {
    std::vector<float> out(size(numbers.size()));
    std::transform(numbers.data(), numbers.data() + numbers.size(), out.begin(),
                   [](double number) { return static_cast<float>(number); });
    return out;
  };
  state.put("points", {size(data.size()), size(data.points.rows())}, to_float(data.points));
  state.put("values", {size(data.size())}, to_float(data.values));
  if (data.known_variance.size() == 0) return;
  const Eigen::VectorXd& known = data.known_variance;
  state.put("known_variance", {size(data.size())}, std::vector<double>(known.data(), known.data() + known.size()));
}

gp::GpData observations_of(const State& state, const Domain& domain) {
  const std::vector<std::size_t> shape = state.shape("points", 2);
  has_time(domain, shape[1]);
  if (shape[0] == 0) throw Error("the method's state has no observations");
  const std::span<const float> points = state.tensor<float>("points", {shape[0], shape[1]});
  const std::span<const float> values = state.tensor<float>("values", {shape[0]});
  gp::GpData out;
  out.points = Eigen::Map<const Eigen::MatrixXf>(points.data(), index(shape[1]), index(shape[0])).cast<double>();
  out.values = Eigen::Map<const Eigen::VectorXf>(values.data(), index(shape[0])).cast<double>();
  if (domain.kind == DomainKind::sphere) {
    const Eigen::VectorXd lengths = out.points.topRows(3).colwise().norm();
    if ((lengths.array() - 1.0).abs().maxCoeff() > 1e-3) throw Error("a position of the method's state is not on the sphere");
  }
  if (!state.has("known_variance")) return out;
  const std::span<const double> known = state.tensor<double>("known_variance", {shape[0]});
  out.known_variance = Eigen::Map<const Eigen::VectorXd>(known.data(), index(known.size()));
  if (out.known_variance.minCoeff() < 0.0) throw Error("a variance of the method's state is negative");
  return out;
}

void put_parameters(State& state, const gp::GpParameters& parameters, const std::string& name) {
  const Eigen::VectorXd& kernel = parameters.kernel;
  state.put(name + ".kernel", {size(kernel.size())}, std::vector<double>(kernel.data(), kernel.data() + kernel.size()));
  state.put(name + ".noise", parameters.log_noise);
  state.put(name + ".mean", parameters.mean);
}

gp::GpParameters parameters_of(const State& state, const gp::KernelSpec& spec, const std::string& name) {
  gp::GpParameters out;
  const std::span<const double> kernel =
      state.tensor<double>(name + ".kernel", {static_cast<std::size_t>(spec.lengthscales) + 1});
  for (const double log : kernel) check_log(log, name + ".kernel");
  out.kernel = Eigen::Map<const Eigen::VectorXd>(kernel.data(), index(kernel.size()));
  out.log_noise = state.number(name + ".noise", -kMostLog, kMostLog);
  out.mean = state.number(name + ".mean", -1e300, 1e300);
  return out;
}

}  // namespace drift
