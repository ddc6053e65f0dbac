#include "engine/cuda/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "engine/shapes.h"
#include "train/batches.h"

namespace drift::cuda {
namespace {

constexpr double kShareOfFreeMemory = 0.7;

std::size_t size(int count) { return static_cast<std::size_t>(count); }

std::vector<NetworkMember> network_members(std::span<const TrainedMember> members) {
  std::vector<NetworkMember> result;
  for (const TrainedMember& member : members) result.push_back({member.member, member.resolver});
  return result;
}

}  // namespace

Trainer::Trainer(std::span<const TrainedMember> members, const DeviceData& data, std::size_t observations, Precision precision,
                 const Stream& stream)
    : members_(members),
      plan_(members.front().resolver->plan()),
      recipe_(*members.front().recipe),
      data_(data),
      stream_(stream),
      precision_(precision),
      wanted_(wanted_of(members.front())),
      variational_(wanted_.variational),
      trains_hyper_(wanted_.hyper),
      observations_(observations),
      network_(network_members(members), variational_, stream),
      gradient_size_((variational_ ? 2 : 1) * plan_.parameter_size),
      member_numbers_(members.size()),
      numbers_(members.size()),
      gradient_(members.size() * gradient_size_),
      moment1_(members.size() * gradient_size_),
      moment2_(members.size() * gradient_size_) {
  std::vector<MemberNumbers> numbers;
  for (const TrainedMember& member : members) {
    numbers.push_back({.seed = member.seed,
                       .index = member.member->index,
                       .rate = member.recipe->rate,
                       .hyper_rate = member.recipe->hyper_rate,
                       .muon_rate = member.recipe->muon_rate,
                       .value_noise = static_cast<float>(member.recipe->value_noise)});
  }
  member_numbers_.upload(numbers, stream);
  run_ = {.schedule = recipe_.schedule,
          .warmup_steps = recipe_.warmup_steps,
          .total_steps = total_steps(recipe_, observations),
          .beta1 = recipe_.adam_beta1,
          .beta2 = recipe_.adam_beta2,
          .observations = observations,
          .batch = recipe_.batch,
          .member = member_numbers_.data(),
          .members = static_cast<int>(members.size())};
  gradient_.clear(stream);
  upload_moments();
  prepare_updates();
  make_passes();
  values_ = DeviceArray<float>(members.size() * capacity_ * size(plan_.spec.outputs));
  weights_ = DeviceArray<float>(members.size() * capacity_);
  const std::size_t whole = std::min(recipe_.batch, observations);
  const int pass = static_cast<int>(capacity_);
  partials_ =
      static_cast<int>((whole + capacity_ - 1) / capacity_) * (fused_ ? FusedPasses::loss_partials(pass) : loss_partials(pass));
  partial_ = DeviceArray<double>(members.size() * size(partials_));
}

void Trainer::make_passes() {
  const bool fused = FusedPasses::fit(plan_, wanted_, precision_);
  const std::size_t row =
      fused ? FusedPasses::bytes_per_row(plan_, members_.size(), true) : Passes::bytes_per_row(plan_, members_.size(), wanted_);
  const auto fitting = static_cast<std::size_t>(kShareOfFreeMemory * static_cast<double>(free_device_bytes())) / row;
  const std::size_t most = std::min({recipe_.batch, observations_, kMaxPassRows});
  capacity_ = std::clamp<std::size_t>(fitting / 256 * 256, std::min<std::size_t>(256, most), most);
  if (fused) {
    fused_ = std::make_unique<FusedPasses>(network_, capacity_, true, precision_, stream_);
    capacity_ = fused_->capacity();
    muon_by_layer_ = !muon_.empty() && std::all_of(muon_.begin(), muon_.end(), [](const auto& muon) { return muon->is_fused(); });
    const auto images_of = [&](std::size_t offset) {
      const auto [rows, columns] = fused_->images_at(offset);
      return MuonImages{rows, columns};
    };
    for (const auto& muon : muon_) {
      if (muon_by_layer_) muon->write_images(fused_->tiles(), images_of, stream_);
    }
  } else {
    passes_ = std::make_unique<Passes>(network_, capacity_, wanted_, precision_);
  }
}

void Trainer::upload_moments() {
  moment1_.clear(stream_);
  moment2_.clear(stream_);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const MemberProgress& progress = *members_[i].progress;
    if (progress.step == 0) continue;  // zero as yet
    moment1_.upload(progress.moment1.data(), gradient_size_, i * gradient_size_, stream_);
    moment2_.upload(progress.moment2.data(), gradient_size_, i * gradient_size_, stream_);
  }
}

void Trainer::prepare_updates() {
  std::vector<Rule> rules(plan_.parameter_size, Rule::none), log_sd_rules(plan_.parameter_size, Rule::none);
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::vector<std::size_t>, std::vector<float>>> muon;  // by shape
  for (const UpdateGroup& group : update_groups(plan_, recipe_, variational_)) {
    if (group.rule == UpdateGroup::Rule::muon) {
      auto& [offsets, factors] = muon[{group.rows, group.size / group.rows}];
      offsets.push_back(group.offset);
      factors.push_back(static_cast<float>(group.muon_factor));
    } else if (group.rule != UpdateGroup::Rule::hyper) {
      auto& list = group.rule == UpdateGroup::Rule::adam ? rules : log_sd_rules;
      std::fill_n(list.begin() + static_cast<std::ptrdiff_t>(group.offset), group.size, Rule::adam);
    }
  }
  if (FusedPasses::fit(plan_, wanted_, precision_)) {  // then bottlenecks are updated by their own kernel
    for (const LayerPlan& layer : plan_.layers) {
      if (layer.next == kOutput) continue;
      std::fill_n(rules.begin() + static_cast<std::ptrdiff_t>(layer.bottleneck), layer.features * layer.outputs, Rule::none);
    }
  }
  const auto is_adam = [](Rule rule) { return rule == Rule::adam; };
  adam_first_ = static_cast<std::size_t>(std::find_if(rules.begin(), rules.end(), is_adam) - rules.begin());
  adam_last_ = static_cast<std::size_t>(rules.rend() - std::find_if(rules.rbegin(), rules.rend(), is_adam));
  rules_ = DeviceArray<Rule>(rules.size());
  rules_.upload(rules, stream_);
  if (variational_) {
    log_sd_rules_ = DeviceArray<Rule>(rules.size());
    log_sd_rules_.upload(log_sd_rules, stream_);
  }
  for (const auto& [shape, groups] : muon) {
    const MuonArrays arrays = {.members = network_.members(),
                               .layers = 0,
                               .size = 0,
                               .offsets = nullptr,
                               .factors = nullptr,
                               .mu = static_cast<float>(recipe_.muon_momentum),
                               .weights = network_.parameters(),
                               .weights_stride = plan_.parameter_size,
                               .gradient = gradient_.data(),
                               .gradient_stride = gradient_size_,
                               .momentum = moment1_.data(),
                               .moment_stride = gradient_size_,
                               .x = nullptr,
                               .partial = nullptr};
    muon_.push_back(std::make_unique<Muon>(arrays, static_cast<int>(shape.first), static_cast<int>(shape.second), groups.first,
                                           groups.second, recipe_.muon_iterations, precision_, stream_));
  }
  if (!trains_hyper_) return;
  std::vector<std::uint8_t> trained;
  for (const Hyperparameter& hyper : plan_.hyperparameters) {
    trained.push_back(hyper.is_lengthscale ? recipe_.train_lengthscales : recipe_.train_amplitudes);
  }
  hyper_trained_ = DeviceArray<std::uint8_t>(trained.size());
  hyper_trained_.upload(trained, stream_);
  hyper_ = DeviceArray<double>(members_.size() * trained.size());
  hyper_.clear(stream_);
  network_.scales().prepare_updates(network_.fixed_data(), plan_.fixed_size, network_.parameters() + plan_.hyper,
                                    plan_.parameter_size, stream_);
}

int Trainer::rows_of(std::uint64_t step) const {
  return static_cast<int>(BatchOrder(observations_, recipe_.batch, 0, 0).size_of(step));
}

void Trainer::enqueue_step(int rows, cudaStream_t stream) {
  const auto capacity = static_cast<int>(capacity_);
  int partials = 0;
  for (int first = 0; first < rows; first += capacity) {
    const int count = std::min(capacity, rows - first);
    Gather batch = {.run = run_,
                    .numbers = numbers_.data(),
                    .first = static_cast<std::uint64_t>(first),
                    .rows = count,
                    .coordinates = nullptr,
                    .coordinate_stride = 0,
                    .coordinate_count = plan_.coordinates,
                    .values = nullptr,
                    .value_stride = 0,
                    .outputs = plan_.spec.outputs,
                    .weights = nullptr,
                    .folds = nullptr,
                    .fold_count = 0,
                    .out_coordinates = fused_ ? fused_->coordinates() : passes_->coordinates(),
                    .out_scaled = fused_ ? fused_->scaled() : passes_->scaled(),
                    .out_values = values_.data(),
                    .out_weights = weights_.data(),
                    .inverse_lengthscale = network_.scales().inverse_lengthscale(),
                    .capacity = capacity_};
    data_.describe(batch);
    gather(batch, stream);
    enqueue_pass(first, count, rows, partials, batch, stream);
    partials += fused_ ? FusedPasses::loss_partials(count) : loss_partials(count);
  }
  if (fused_ && (muon_by_layer_ || muon_.empty())) return;  // the last pass has seen to the rest
  enqueue_updates(stream);
  if (fused_) fused_->refresh(stream);
  enqueue_finish(partials, rows, stream);
}

void Trainer::enqueue_finish(int partials, int rows, cudaStream_t stream) {
  finish_step(numbers_.data(), partial_.data(), partials, partials_, rows, run_.members, losses_.data(), losses_stride_,
              first_step_, stream);
}

// Losses and gradients of `count` rows from `first` on, of the `rows` of the batch.
void Trainer::enqueue_pass(int first, int count, int rows, int partial_first, const Gather& batch, cudaStream_t stream) {
  const GradientPlace place = {
      .data = gradient_.data(), .stride = gradient_size_, .accumulate = first > 0, .hyper = hyper_.data()};
  const LossTarget target = {.values = values_.data(),
                             .weights = batch.weights == nullptr && batch.folds == nullptr ? nullptr : weights_.data(),
                             .kind = recipe_.loss,
                             .delta = static_cast<float>(recipe_.huber_delta),
                             .scale = static_cast<float>(1.0 / rows),
                             .partial = partial_.data(),
                             .partial_first = partial_first,
                             .partial_stride = partials_};
  if (fused_) {
    const FusedAdam adam = fused_adam_settings();
    const bool last = first + count == rows, by_adam = last && muon_.empty();
    const bool by_muon = last && muon_by_layer_;
    const auto muon = [&](std::size_t bottleneck, cudaStream_t side) {
      for (const auto& each : muon_) each->enqueue_one(bottleneck, numbers_.data(), side);
    };
    const auto beside = [&](cudaStream_t side) {
      enqueue_updates(side);
      enqueue_finish(partial_first + FusedPasses::loss_partials(count), rows, side);
    };
    return fused_->train(count, target, place, by_adam ? &adam : nullptr, by_muon ? FusedPasses::Update(muon) : nullptr,
                         by_adam || by_muon ? std::function<void(cudaStream_t)>(beside) : nullptr, stream);
  }
  const PassNoise noise = {.numbers = numbers_.data(),
                           .members = member_numbers_.data(),
                           .first_row = static_cast<std::uint32_t>(first),
                           .dropout = recipe_.dropout};
  const bool random = variational_ || recipe_.dropout > 0.0;
  passes_->forward(count, random ? &noise : nullptr, stream);
  loss_and_gradient({.members = run_.members,
                     .rows = count,
                     .outputs = plan_.spec.outputs,
                     .prediction = passes_->output(),
                     .gradient = passes_->output_gradient(),
                     .capacity = capacity_,
                     .target = target},
                    stream);
  passes_->backward(count, place, random ? &noise : nullptr, stream);
}

FusedAdam Trainer::fused_adam_settings() {
  return {.numbers = numbers_.data(),
          .beta1 = static_cast<float>(recipe_.adam_beta1),
          .beta2 = static_cast<float>(recipe_.adam_beta2),
          .epsilon = static_cast<float>(recipe_.adam_epsilon),
          .weights = network_.parameters(),
          .weights_stride = plan_.parameter_size,
          .moment1 = moment1_.data(),
          .moment2 = moment2_.data(),
          .gradient_stride = gradient_size_};
}

void Trainer::enqueue_updates(cudaStream_t stream) {
  AdamUpdate update = {.numbers = numbers_.data(),
                       .rules = rules_.data() + adam_first_,
                       .members = run_.members,
                       .size = adam_last_ - adam_first_,
                       .beta1 = static_cast<float>(recipe_.adam_beta1),
                       .beta2 = static_cast<float>(recipe_.adam_beta2),
                       .epsilon = static_cast<float>(recipe_.adam_epsilon),
                       .weights = network_.parameters() + adam_first_,
                       .weights_stride = plan_.parameter_size,
                       .gradient = gradient_.data() + adam_first_,
                       .gradient_stride = gradient_size_,
                       .moment1 = moment1_.data() + adam_first_,
                       .moment2 = moment2_.data() + adam_first_,
                       .moment_stride = gradient_size_,
                       .variances = nullptr};
  if (update.size > 0) adam(update, stream);
  if (variational_) {
    update.size = plan_.parameter_size;
    update.rules = log_sd_rules_.data();
    update.weights = network_.log_sds();
    update.variances = network_.variances();
    update.gradient = gradient_.data() + plan_.parameter_size;
    update.moment1 = moment1_.data() + plan_.parameter_size;
    update.moment2 = moment2_.data() + plan_.parameter_size;
    adam(update, stream);
  }
  if (!muon_by_layer_) {
    for (const auto& muon : muon_) muon->enqueue(numbers_.data(), stream);
  }
  if (!trains_hyper_) return;
  adam_hyper({.numbers = numbers_.data(),
              .trained = hyper_trained_.data(),
              .members = run_.members,
              .count = static_cast<int>(plan_.hyperparameters.size()),
              .beta1 = static_cast<float>(recipe_.adam_beta1),
              .beta2 = static_cast<float>(recipe_.adam_beta2),
              .epsilon = static_cast<float>(recipe_.adam_epsilon),
              .sums = hyper_.data(),
              .weights = network_.parameters() + plan_.hyper,
              .weights_stride = plan_.parameter_size,
              .moment1 = moment1_.data() + plan_.hyper,
              .moment2 = moment2_.data() + plan_.hyper,
              .moment_stride = gradient_size_},
             stream);
  network_.scales().enqueue_update(stream);
}

const Graph& Trainer::graph(int rows) {
  auto& graph = graphs_[rows];
  if (!graph) graph = std::make_unique<Graph>(stream_, [&](cudaStream_t stream) { enqueue_step(rows, stream); });
  return *graph;
}

void Trainer::collect(std::uint64_t first, std::uint64_t count, std::vector<std::vector<float>>& losses) {
  std::vector<float> all(members_.size() * count);
  check_cuda(
      cudaMemcpy2DAsync(all.data(), count * sizeof(float), losses_.data() + (first - first_step_), losses_stride_ * sizeof(float),
                        count * sizeof(float), members_.size(), cudaMemcpyDeviceToHost, stream_.get()),
      "copying losses");
  stream_.wait();
  losses.clear();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * count), end = begin + static_cast<std::ptrdiff_t>(count);
    losses.emplace_back(begin, end);
    std::vector<float>& kept = members_[i].progress->losses;
    kept.insert(kept.end(), begin, end);
  }
}

void Trainer::advance(std::uint64_t until, const Report& report) {
  first_step_ = members_.front().progress->step;
  if (first_step_ >= until) return;
  losses_stride_ = until - first_step_;
  losses_ = DeviceArray<float>(members_.size() * losses_stride_);
  graphs_.clear();
  std::vector<StepNumbers> start(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    start[i].step = first_step_;
    start[i].decay = static_cast<float>(2.0 * weight_decay(*members_[i].recipe, observations_));
  }
  numbers_.upload(start, stream_);
  std::uint64_t step = first_step_, chunk = 8;
  bool stop = false;
  while (step < until && !stop) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t count = std::min(chunk, until - step);
    for (std::uint64_t i = 0; i < count; ++i) graph(rows_of(step + i)).launch(stream_);
    std::vector<std::vector<float>> losses;
    collect(step, count, losses);
    step += count;
    for (const TrainedMember& member : members_) member.progress->step = step;
    stop = report(losses, step - count);
    // Chunks of about a tenth of a second: short enough for progress, long enough for a wait at the end not to matter.
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (seconds < 0.05) chunk *= 2;
    if (seconds > 0.2 && chunk > 1) chunk /= 2;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    network_.download(i, *members_[i].member, stream_);
    MemberProgress& progress = *members_[i].progress;
    if (progress.moment1.empty()) continue;  // not wanted
    moment1_.download(progress.moment1.data(), gradient_size_, i * gradient_size_, stream_);
    moment2_.download(progress.moment2.data(), gradient_size_, i * gradient_size_, stream_);
  }
}

}  // namespace drift::cuda
