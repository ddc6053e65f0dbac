#include "engine/shapes.h"

#include <fmt/format.h>

#include <cmath>

#include "drift/error.h"
#include "engine/observation_checks.h"
#include "network/plan.h"

namespace drift {
namespace {

// An empty view stands for "not asked for".
template <class T>
void check_view(const char* what, MatrixView<T> view, std::size_t rows, std::size_t cols) {
  if (view.rows == rows && view.cols == cols) return;
  throw UsageError(
      fmt::format("{} is [{},{}] but the network and the points want [{},{}]", what, view.rows, view.cols, rows, cols));
}

std::size_t coordinates_of(const Ensemble& ensemble) { return static_cast<std::size_t>(ensemble.spec.coordinates()); }
std::size_t outputs_of(const Ensemble& ensemble) { return static_cast<std::size_t>(ensemble.spec.outputs); }

void check_array(std::size_t member, const char* what, std::size_t size, std::size_t wanted) {
  if (size == wanted) return;
  throw UsageError(
      fmt::format("member {} of the ensemble has {} {} but its spec wants {}: draw the ensemble from this spec, or load it whole",
                  member, size, what, wanted));
}

// Lengthscales divide: they must be finite and above zero. Amplitudes need only be finite.
void check_hyperparameters(const Plan& plan, const Member& member, std::size_t index) {
  for (std::size_t i = 0; i < plan.hyperparameters.size(); ++i) {
    const Hyperparameter& hyper = plan.hyperparameters[i];
    const double value = hyper.value * std::exp(static_cast<double>(member.parameters[plan.hyper + i]));
    if (std::isfinite(value) && (value > 0.0 || !hyper.is_lengthscale)) continue;
    throw UsageError(fmt::format("member {} of the ensemble: {} is {} but must be finite{}", index, hyper.name, value,
                                 hyper.is_lengthscale ? " and greater than 0" : ""));
  }
}

void check_folds(const TrainingSet& data) {
  if (data.folds.size() != data.values.rows || data.fold_count < 2) {
    throw UsageError(fmt::format("{} observations have {} folds of {}; give one of at least two to each", data.values.rows,
                                 data.folds.size(), data.fold_count));
  }
  for (std::size_t row = 0; row < data.folds.size(); ++row) {
    if (data.folds[row] >= data.fold_count) {
      throw UsageError(
          fmt::format("observation {} (counted from 0) is in fold {}, of {}", row, data.folds[row], data.fold_count));
    }
  }
}

}  // namespace

void check_ensemble(const Ensemble& ensemble) {
  if (ensemble.members.empty()) throw UsageError("the ensemble has no members: draw at least one");
  const Plan plan = make_plan(ensemble.spec);
  const bool variational = !ensemble.members.front().log_sd.empty();
  for (std::size_t i = 0; i < ensemble.members.size(); ++i) {
    const Member& member = ensemble.members[i];
    check_array(i, "fixed numbers", member.fixed.size(), plan.fixed_size);
    check_array(i, "parameters", member.parameters.size(), plan.parameter_size);
    if (member.log_sd.empty() == variational) {
      throw UsageError(fmt::format("member {} has {} log sds of its weights, member 0 {}: make all members variational or none",
                                   i, member.log_sd.size(), ensemble.members.front().log_sd.size()));
    }
    if (variational) check_array(i, "log sds of its weights", member.log_sd.size(), plan.parameter_size);
    check_hyperparameters(plan, member, i);
  }
}

std::size_t trained_numbers(const Member& member) { return member.parameters.size() + member.log_sd.size(); }

std::size_t head_input_count(const NetworkSpec& spec) {
  const Plan plan = make_plan(spec);
  return static_cast<std::size_t>(plan.has_head ? plan.head_inputs : plan.layers.back().matrix_rows());
}

void check_shapes(const Ensemble& ensemble, const TrainingSet& data) {
  check_ensemble(ensemble);
  if (data.values.rows == 0) throw UsageError("there are no observations to train on");
  check_view("coordinates", data.coordinates, data.values.rows, coordinates_of(ensemble));
  check_view("values", data.values, data.values.rows, outputs_of(ensemble));
  if (!data.weights.empty() && data.weights.size() != data.values.rows) {
    throw UsageError(fmt::format("there are {} weights for {} observations", data.weights.size(), data.values.rows));
  }
  if (!data.folds.empty()) check_folds(data);
}

void check_shapes(const Ensemble& ensemble, const TrainingState& state) {
  if (state.members.size() != ensemble.members.size()) {
    throw UsageError(
        fmt::format("the training state has {} members, the ensemble {}", state.members.size(), ensemble.members.size()));
  }
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    const std::size_t size = trained_numbers(ensemble.members[i]);
    const MemberProgress& progress = state.members[i];
    if (progress.moment1.size() != size || progress.moment2.size() != size) {
      throw UsageError(fmt::format("member {}'s training state has {} and {} moments for {} parameters", i,
                                   progress.moment1.size(), progress.moment2.size(), size));
    }
  }
}

void check_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out) {
  check_ensemble(ensemble);
  const std::size_t points = coordinates.rows;
  const std::size_t outputs = outputs_of(ensemble);
  check_view("coordinates", coordinates, points, coordinates_of(ensemble));
  check_points(ensemble.spec, coordinates);
  if (!out.mean.empty()) check_view("mean", out.mean, points, outputs);
  if (!out.variance.empty()) check_view("variance", out.variance, points, outputs);
  if (!out.members.empty()) check_view("members", out.members, points, outputs * ensemble.members.size());
}

void check_head_shapes(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                       MatrixView<float> inputs) {
  check_shapes(ensemble, coordinates, PredictionViews{});
  if (member >= ensemble.members.size()) {
    throw UsageError(fmt::format("there is no member {}: the ensemble has {}", member, ensemble.members.size()));
  }
  check_view("inputs", inputs, coordinates.rows, head_input_count(ensemble.spec));
}

std::size_t check_all_head_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> inputs) {
  check_shapes(ensemble, coordinates, PredictionViews{});
  const std::size_t each = head_input_count(ensemble.spec);
  check_view("inputs", inputs, coordinates.rows, ensemble.members.size() * each);
  return each;
}

void check_gradient_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient) {
  check_shapes(ensemble, coordinates, PredictionViews{});
  check_view("gradient", gradient, coordinates.rows, outputs_of(ensemble) * coordinates_of(ensemble));
}

}  // namespace drift
