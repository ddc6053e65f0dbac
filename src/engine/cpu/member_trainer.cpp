#include "engine/cpu/member_trainer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "drift/error.h"
#include "engine/cpu/folded_head.h"
#include "engine/cpu/kernels.h"
#include "engine/training_start.h"
#include "train/loss.h"
#include "train/schedule.h"
#include "train/variational.h"

namespace drift::cpu {
namespace {

AdamStep adam_settings(const Recipe& recipe, double rate, std::uint64_t step, float decay) {
  const double t = static_cast<double>(step + 1);
  return {.rate = static_cast<float>(rate),
          .beta1 = static_cast<float>(recipe.adam_beta1),
          .beta2 = static_cast<float>(recipe.adam_beta2),
          .epsilon = static_cast<float>(recipe.adam_epsilon),
          .correction1 = static_cast<float>(1.0 - std::pow(recipe.adam_beta1, t)),
          .correction2 = static_cast<float>(1.0 - std::pow(recipe.adam_beta2, t)),
          .decay = decay};
}

}  // namespace

TrainingJob::TrainingJob(const Ensemble& ensemble, const TrainingSet& training_data, const Recipe& training_recipe)
    : data(training_data),
      recipe(training_recipe),
      resolver(make_plan(ensemble.spec)),
      seed(ensemble.seed),
      total_steps(drift::total_steps(recipe, data.values.rows)),
      variational(!ensemble.members.front().log_sd.empty()),
      folded(folds_head(plan(), wanted())),
      groups(update_groups(plan(), recipe, variational)) {
  const std::size_t wanted_slices = std::clamp<std::size_t>((recipe.batch + kBlockRows - 1) / kBlockRows, 1, kMaxSlices);
  slice_rows = (recipe.batch + wanted_slices - 1) / wanted_slices;
  decay = static_cast<float>(2.0 * weight_decay(recipe, data.values.rows));
}

std::size_t TrainingJob::slices(std::uint64_t step) const {
  const std::size_t rows = BatchOrder(data.values.rows, recipe.batch, seed, 0).size_of(step);
  return (rows + slice_rows - 1) / slice_rows;
}

Scratch::Scratch(const TrainingJob& job)
    : workspace(job.plan(), std::min(kBlockRows, job.slice_rows), job.wanted()),
      rows(workspace.max_rows()),
      values(workspace.max_rows() * job.data.values.cols),
      weights(workspace.max_rows()) {}

MemberTrainer::MemberTrainer(const TrainingJob& job, Member& member, MemberProgress& progress)
    : job_(job),
      member_(member),
      progress_(progress),
      order_(job.data.values.rows, job.recipe.batch, job.seed, member.index),
      value_noise_(job.recipe.value_noise, job.seed, member.index),
      network_(job.resolver, member.fixed.data(), member.parameters.data()),
      variances_(member.log_sd.size()) {
  if (!job.variational) return;
  variances_of(member.log_sd, variances_);
  network_.variances = variances_.data();
}

void MemberTrainer::compute_slice(const Task& task, GradientSlot& slot, Scratch& scratch) const {
  const TrainingSet& data = job_.data;
  const std::size_t batch_rows = order_.size_of(task.step);
  const std::size_t first = task.index * job_.slice_rows;
  const std::size_t last = std::min(first + job_.slice_rows, batch_rows);
  const auto mean = static_cast<float>(1.0 / static_cast<double>(batch_rows));
  const Loss loss = loss_of(job_.recipe);
  const bool random = job_.variational || job_.recipe.dropout > 0.0;
  PassNoise noise{.numbers = StepNoise(job_.seed, member_.index, task.step), .dropout = job_.recipe.dropout};
  Workspace<float>& ws = scratch.workspace;
  double sum = 0;
  for (std::size_t begin = first; begin < last; begin += ws.max_rows()) {
    const std::size_t rows = std::min(ws.max_rows(), last - begin);
    order_.indices(task.step, begin, std::span(scratch.rows).first(rows));
    const MatrixView<float> coordinates = ws.coordinates(rows);
    const MatrixView<float> values(scratch.values.data(), rows, data.values.cols);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t source = scratch.rows[row];
      std::copy_n(data.coordinates.row(source), coordinates.cols, coordinates.row(row));
      std::copy_n(data.values.row(source), values.cols, values.row(row));
      if (data.weighted()) scratch.weights[row] = weight_in_member(data, source, member_.index);
      value_noise_.add(source, data.weight(source), std::span(values.row(row), values.cols));
    }
    noise.first_row = begin;
    forward(network_, ws, rows, random ? &noise : nullptr);
    const auto weights = std::span<const float>(scratch.weights).first(data.weighted() ? rows : 0);
    sum += loss_and_gradient<float>(loss, ws.output(rows), values, weights, mean, ws.output_gradient(rows));
    backward(network_, ws, rows, slot.slices[task.index].data(), begin != first);
  }
  slot.losses[task.index] = sum;
}

void MemberTrainer::finish_gradient(const Task& task, GradientSlot& slot) {
  const std::size_t slices = job_.slices(task.step);
  double sum = 0;
  for (std::size_t i = 0; i < slices; ++i) sum += slot.losses[i];
  loss_ = sum / static_cast<double>(order_.size_of(task.step));
  if (!std::isfinite(loss_)) throw Error(divergence_message(job_.recipe, member_.index, task.step, job_.total_steps));
  if (job_.folded) unfold(slices, slot);
}

// The slices' thin factors are summed first, so that the head and the bottlenecks before it are unfolded once, into the first
// slice.
void MemberTrainer::unfold(std::size_t slices, GradientSlot& slot) const {
  const Plan& plan = job_.plan();
  for (const LayerPlan& layer : plan.layers) {
    if (layer.next != kHead) continue;
    std::array<const float*, kMaxSlices> factors{};
    for (std::size_t i = 0; i < slices; ++i) factors[i] = slot.slices[i].data() + layer.bottleneck;
    const auto size = static_cast<std::size_t>(layer.features) * static_cast<std::size_t>(plan.spec.outputs);
    sum_slices({factors.data(), slices}, 0.0F, {}, {slot.slices[0].data() + layer.bottleneck, size});
  }
  unfold_gradient(network_, slot.slices[0].data());
}

// Slices that hold a share of the group's gradient.
std::size_t MemberTrainer::slices_of(const UpdateGroup& group, std::uint64_t step) const {
  const std::vector<LayerPlan>& layers = job_.plan().layers;
  const auto unfolded = [&](const LayerPlan& layer) { return layer.next == kHead && layer.bottleneck == group.offset; };
  const bool one = job_.folded && (group.offset == job_.plan().head || std::any_of(layers.begin(), layers.end(), unfolded));
  return one ? 1 : job_.slices(step);
}

void MemberTrainer::update_tensor(const Task& task, const GradientSlot& slot, Scratch& scratch) {
  const UpdateGroup& group = job_.groups[task.index];
  if (group.rule == UpdateGroup::Rule::log_sd) return update_log_sd(group, slot, task, scratch);
  std::array<const float*, kMaxSlices> pointers{};
  const std::size_t count = slices_of(group, task.step);
  for (std::size_t i = 0; i < count; ++i) pointers[i] = slot.slices[i].data() + group.offset;
  const std::span<const float* const> slices(pointers.data(), count);
  const std::span weights(member_.parameters.data() + group.offset, group.size);
  const std::span moment1(progress_.moment1.data() + group.offset, group.size);
  const std::span moment2(progress_.moment2.data() + group.offset, group.size);
  const double factor = rate_multiplier(job_.recipe, task.step, job_.total_steps);
  switch (group.rule) {
    case UpdateGroup::Rule::adam:
      adam_step(adam_settings(job_.recipe, factor * job_.recipe.rate, task.step, job_.decay), slices, weights, moment1, moment2);
      break;
    case UpdateGroup::Rule::muon: {
      scratch.gradient.resize(std::max(scratch.gradient.size(), group.size));
      const std::span gradient(scratch.gradient.data(), group.size);
      sum_slices(slices, job_.decay, weights, gradient);
      Muon& muon =
          scratch.muon.try_emplace({group.rows, group.size / group.rows}, group.rows, group.size / group.rows).first->second;
      muon.step({.rate = static_cast<float>(factor * job_.recipe.muon_rate * group.muon_factor),
                 .momentum = static_cast<float>(job_.recipe.muon_momentum),
                 .iterations = job_.recipe.muon_iterations},
                gradient, weights, moment1);
      break;
    }
    case UpdateGroup::Rule::hyper:
      update_hyper(group, slices, task.step);
      break;
    case UpdateGroup::Rule::log_sd:
      break;
  }
}

void MemberTrainer::update_hyper(const UpdateGroup& group, std::span<const float* const> slices, std::uint64_t step) {
  const double factor = rate_multiplier(job_.recipe, step, job_.total_steps);
  const AdamStep settings = adam_settings(job_.recipe, factor * job_.recipe.hyper_rate, step, 0.0F);
  for (std::size_t i = 0; i < group.size; ++i) {
    const bool trained =
        job_.plan().hyperparameters[i].is_lengthscale ? job_.recipe.train_lengthscales : job_.recipe.train_amplitudes;
    if (!trained) continue;
    std::array<const float*, kMaxSlices> entry{};
    for (std::size_t s = 0; s < slices.size(); ++s) entry[s] = slices[s] + i;
    const std::size_t at = group.offset + i;
    adam_step(settings, std::span<const float* const>(entry.data(), slices.size()), std::span(&member_.parameters[at], 1),
              std::span(&progress_.moment1[at], 1), std::span(&progress_.moment2[at], 1));
  }
}

void MemberTrainer::update_log_sd(const UpdateGroup& group, const GradientSlot& slot, const Task& task, Scratch& scratch) {
  const std::size_t behind = job_.plan().parameter_size + group.offset;
  std::array<const float*, kMaxSlices> pointers{};
  const std::size_t count = job_.slices(task.step);
  for (std::size_t i = 0; i < count; ++i) pointers[i] = slot.slices[i].data() + behind;
  scratch.gradient.resize(std::max(scratch.gradient.size(), group.size));
  const std::span gradient(scratch.gradient.data(), group.size);
  const std::span variances(variances_.data() + group.offset, group.size);
  const std::span log_sds(member_.log_sd.data() + group.offset, group.size);
  sum_slices({pointers.data(), count}, 0.0F, {}, gradient);
  to_log_sd_gradient(variances, job_.decay, gradient);
  const float* summed = gradient.data();
  const double rate = rate_multiplier(job_.recipe, task.step, job_.total_steps) * job_.recipe.rate;
  adam_step(adam_settings(job_.recipe, rate, task.step, 0.0F), {&summed, 1}, log_sds,
            {progress_.moment1.data() + behind, group.size}, {progress_.moment2.data() + behind, group.size});
  variances_of(log_sds, variances);
}

void MemberTrainer::finish_step() {
  ++progress_.step;
  progress_.losses.push_back(static_cast<float>(loss_));
  if (job_.trains_hyper()) {
    network_.scales = job_.resolver.resolve(network_.fixed, network_.parameters);
    for (std::size_t i = 0; i < network_.scales.layers.size(); ++i) {
      const auto& sphere = network_.scales.layers[i].sphere;
      network_.sphere_scales[i].assign(sphere.begin(), sphere.end());
    }
  }
  if (job_.folded) network_.fold_head();
}

}  // namespace drift::cpu
