#pragma once

// For tests: networks of every kind in double, with a loss, open to finite differences.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "drift/ensemble.h"
#include "engine/cpu/folded_head.h"
#include "engine/cpu/passes.h"
#include "train/loss.h"

namespace drift::cpu {

// Central differences with step h have an error of h^2 f'''/6 + 1e-16 f / h, below 1e-7 of the gradient's size or of one here.
inline constexpr double kStep = 1e-5;
inline constexpr double kTolerance = 2e-7;
inline double tolerance(double gradient) { return kTolerance * (1 + std::abs(gradient)); }

inline NetworkSpec small(Space space, int spatial, int temporal, int joint) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, temporal > 0);
  spec.coupling = Coupling::additive;
  spec.spatial.layers = spatial;
  spec.temporal.layers = temporal;
  spec.joint.layers = joint;
  spec.features = 14;
  spec.bottleneck = 4;
  spec.spatial.lengthscales = {space == Space::plane ? 0.8 : 0.6};
  spec.spatial.amplitude = 0.9;
  spec.spatial.hidden_amplitude = 1.2;
  spec.temporal.lengthscales = {0.7};
  spec.joint.hidden_lengthscale = 1.3;
  return spec;
}

inline NetworkSpec small_space_time(Space space, int layers) {
  NetworkSpec spec = small(space, layers, 1, 0);
  spec.coupling = Coupling::product;
  return spec;
}

inline NetworkSpec small_dense(Space space, bool time, DenseSpec dense) {
  dense.width = 9;
  NetworkSpec spec = dense_spec(space, space == Space::plane ? 2 : 3, time, dense);
  spec.features = 14;
  spec.spatial.lengthscales = {0.8};
  spec.spatial.amplitude = 0.9;
  spec.temporal.lengthscales = {0.7};
  return spec;
}

struct Case {
  std::string name;
  NetworkSpec spec;
  Loss loss = {};
};

inline std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"paper_like", small(Space::plane, 4, 1, 0)});
  all.push_back({"huber", small(Space::plane, 2, 1, 0), {LossKind::huber, 0.4}});
  all.push_back({"no_skip", small(Space::plane, 3, 2, 0)});
  all.back().spec.skip = false;
  all.push_back({"deep_time", small(Space::plane, 1, 3, 0)});
  all.push_back({"joint", small(Space::plane, 2, 1, 2)});
  all.push_back({"space_only", small(Space::plane, 2, 0, 0)});
  all.push_back({"one_layer", small(Space::plane, 1, 0, 0)});
  all.push_back({"time_only", small(Space::plane, 0, 2, 0)});
  all.push_back({"two_outputs", small(Space::plane, 2, 1, 0)});
  all.back().spec.outputs = 2;
  all.push_back({"two_outputs_folded", small(Space::plane, 3, 1, 0)});
  all.back().spec.outputs = 2;
  all.back().spec.bottleneck = 8;
  all.push_back({"own_lengthscales", small(Space::plane, 2, 1, 0)});
  all.back().spec.spatial.lengthscales = {0.5, 1.1};
  all.push_back({"squared_exponential", small(Space::plane, 2, 1, 0)});
  all.back().spec.spatial.covariance.family = Family::squared_exponential;
  all.back().spec.spatial.hidden_covariance.family = Family::squared_exponential;
  all.push_back({"structured", small(Space::plane, 3, 2, 1)});
  all.back().spec.frequencies = Frequencies::structured;
  all.push_back({"structured_and_padded", small(Space::plane, 3, 1, 0)});
  all.back().spec.frequencies = Frequencies::structured;
  all.back().spec.bottleneck = 5;
  all.push_back({"sphere", small(Space::sphere, 3, 1, 0)});
  all.push_back({"sphere_no_skip", small(Space::sphere, 2, 1, 0)});
  all.back().spec.skip = false;
  all.push_back({"sphere_two_outputs_folded", small(Space::sphere, 2, 2, 0), {LossKind::huber, 0.5}});
  all.back().spec.outputs = 2;
  all.back().spec.bottleneck = 8;
  all.push_back({"heat_joint", small(Space::sphere, 2, 1, 1), {LossKind::huber, 0.5}});
  all.back().spec.spatial.covariance.family = Family::squared_exponential;
  all.push_back({"sphere_one_layer", small(Space::sphere, 1, 0, 0)});
  all.push_back({"space_time", small_space_time(Space::plane, 3)});
  all.push_back({"space_time_own_lengthscales", small_space_time(Space::plane, 2), {LossKind::huber, 0.4}});
  all.back().spec.spatial.lengthscales = {0.5, 1.1};
  all.back().spec.frequencies = Frequencies::orthogonal;
  all.push_back({"space_time_no_skip", small_space_time(Space::plane, 2)});
  all.back().spec.skip = false;
  all.back().spec.outputs = 2;
  all.push_back({"space_time_sphere", small_space_time(Space::sphere, 3)});
  all.push_back({"space_time_sphere_one_layer", small_space_time(Space::sphere, 1)});
  all.back().spec.temporal.covariance.family = Family::squared_exponential;
  all.push_back({"relu", small_dense(Space::plane, true, {.layers = 3})});
  all.push_back({"relu_no_bias", small_dense(Space::plane, false, {.layers = 2, .bias = false}), {LossKind::huber, 0.4}});
  all.push_back({"relu_sphere", small_dense(Space::sphere, true, {.layers = 1})});
  all.back().spec.outputs = 2;
  all.push_back({"fourier_relu", small_dense(Space::plane, true, {.layers = 2, .input = DenseInput::fourier})});
  all.back().spec.spatial.lengthscales = {0.5, 1.1};
  all.push_back({"fourier_relu_sphere", small_dense(Space::sphere, true, {.layers = 2, .input = DenseInput::fourier})});
  const DenseSpec siren = {.layers = 3, .activation = Activation::sine, .omega = 4.0, .hidden_omega = 3.0};
  all.push_back({"siren", small_dense(Space::plane, true, siren)});
  all.push_back({"siren_sphere", small_dense(Space::sphere, false, siren)});
  all.push_back({"fourier_siren_time_only", small_dense(Space::plane, true, siren)});
  all.back().spec.spatial.layers = 0;
  all.back().spec.dense->input = DenseInput::fourier;
  return all;
}

// A network in double with made-up observations: everything a gradient depends on, open to small changes.
class Problem {
 public:
  explicit Problem(const Case& a_case) : resolver_(make_plan(a_case.spec)), loss_(a_case.loss) {
    const Ensemble ensemble = draw_ensemble(a_case.spec, 7, 1);
    fixed.assign(ensemble.members[0].fixed.begin(), ensemble.members[0].fixed.end());
    parameters.assign(ensemble.members[0].parameters.begin(), ensemble.members[0].parameters.end());
    for (std::size_t i = 0; i < plan().hyperparameters.size(); ++i) {
      parameters[plan().hyper + i] = 0.1 * std::sin(3.0 * static_cast<double>(i + 1));  // as if partly trained
    }
    const auto columns = static_cast<std::size_t>(plan().coordinates);
    for (std::size_t i = 0; i < kRows * columns; ++i) coordinates.push_back(std::sin(1.7 * static_cast<double>(i) + 0.3));
    if (a_case.spec.space == Space::sphere && a_case.spec.spatial.layers > 0) {
      for (std::size_t row = 0; row < kRows; ++row) normalise(&coordinates[row * columns]);
    }
    for (std::size_t i = 0; i < kRows * outputs(); ++i) values.push_back(std::cos(0.9 * static_cast<double>(i)));
    for (std::size_t i = 0; i < kRows; ++i) weights.push_back(0.5 + 0.25 * static_cast<double>(i));
  }

  const Plan& plan() const { return resolver_.plan(); }
  std::size_t outputs() const { return static_cast<std::size_t>(plan().spec.outputs); }
  static void normalise(double* s) {
    const double length = std::hypot(s[0], s[1], s[2]);
    for (int i = 0; i < 3; ++i) s[i] /= length;
  }

  double objective() { return run(nullptr, {}).first; }

  // Gradient of the parameters, and of the coordinates.
  std::pair<double, std::vector<double>> run(std::vector<double>* gradient, Wanted wanted) {
    Network<double> network(resolver_, fixed.data(), parameters.data());
    std::vector<double> variances;
    for (const double log_sd : log_sds) variances.push_back(std::exp(2 * log_sd));
    if (!variances.empty()) network.variances = variances.data();
    wanted.backward = true;
    wanted.dropout = dropout > 0;
    wanted.variational = !log_sds.empty();
    const PassNoise noise{.numbers = StepNoise(5, 0, 3), .first_row = 11, .dropout = dropout};
    Workspace<double> ws(plan(), kRows, wanted);
    std::copy(coordinates.begin(), coordinates.end(), ws.coordinates(kRows).data);
    forward(network, ws, kRows, wanted.dropout || wanted.variational ? &noise : nullptr);
    const MatrixView<const double> target(values.data(), kRows, outputs());
    const double loss =
        loss_and_gradient<double>(loss_, ws.output(kRows), target, weights, 1.0 / kRows, ws.output_gradient(kRows)) / kRows;
    if (gradient != nullptr) gradient->assign(plan().parameter_size * (log_sds.empty() ? 1 : 2), 0.0);
    backward(network, ws, kRows, gradient == nullptr ? nullptr : gradient->data(), false);
    if (gradient != nullptr && folds_head(plan(), wanted)) unfold_gradient(network, gradient->data());
    const MatrixView<double> slope = ws.coordinate_gradient(kRows);
    return {loss, std::vector<double>(slope.data, slope.data + coordinates.size())};
  }

  double difference(double& parameter) {
    const double before = parameter;
    parameter = before + kStep;
    const double up = objective();
    parameter = before - kStep;
    const double down = objective();
    parameter = before;
    return (up - down) / (2 * kStep);
  }

  static constexpr std::size_t kRows = 5;
  std::vector<double> fixed, parameters, coordinates, values, weights;
  double dropout = 0;
  std::vector<double> log_sds;  // [parameters] of variational weights, or empty

 private:
  ScaleResolver resolver_;
  Loss loss_;
};

}  // namespace drift::cpu
