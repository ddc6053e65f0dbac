#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/aligned_vector.h"
#include "drift/engine.h"
#include "engine/cpu/muon.h"
#include "engine/cpu/passes.h"
#include "engine/cpu/step_scheduler.h"
#include "engine/scales.h"
#include "train/batches.h"
#include "train/update_groups.h"
#include "train/value_noise.h"

namespace drift::cpu {

// Rows of one forward and backward pass: few enough for a block's features to stay in the cache, many enough for the products
// to run at full speed.
inline constexpr std::size_t kBlockRows = 256;
// A batch's gradient is summed from at most this many slices, in their order: fixed, so that results do not depend on threads.
inline constexpr std::size_t kMaxSlices = 8;

// State shared by the members of one run.
struct TrainingJob {
  const TrainingSet& data;
  const Recipe& recipe;
  ScaleResolver resolver;
  std::uint64_t seed;
  std::uint64_t total_steps;
  std::size_t slice_rows;
  float decay;       // gradient of beta |Theta|^2 is decay * Theta
  bool variational;  // the members' weights are (train/variational.h)
  bool folded;       // their heads are (folded_head.h)
  std::vector<UpdateGroup> groups;

  TrainingJob(const Ensemble& ensemble, const TrainingSet& data, const Recipe& recipe);
  const Plan& plan() const { return resolver.plan(); }
  bool trains_hyper() const { return recipe.train_lengthscales || recipe.train_amplitudes; }
  std::size_t max_slices() const { return (recipe.batch + slice_rows - 1) / slice_rows; }
  std::size_t slices(std::uint64_t step) const;
  Wanted wanted() const {
    return {.backward = true, .hyper = trains_hyper(), .dropout = recipe.dropout > 0.0, .variational = variational};
  }
  std::size_t gradient_size() const { return (variational ? 2 : 1) * plan().parameter_size; }
};

// Gradients of a member's step under way.
struct GradientSlot {
  std::vector<AlignedVector<float>> slices;  // [slice][gradient_size], the second half of the variances
  std::vector<double> losses;                // [slice] weighted sums
};

// Memory of one thread.
struct Scratch {
  Workspace<float> workspace;
  std::vector<std::uint64_t> rows;                           // indices of a block's observations
  AlignedVector<float> values;                               // [block rows, outputs]
  AlignedVector<float> weights;                              // [block rows]
  AlignedVector<float> gradient;                             // a tensor's, summed over slices
  std::map<std::pair<std::size_t, std::size_t>, Muon> muon;  // by shape

  explicit Scratch(const TrainingJob& job);
};

class MemberTrainer {
 public:
  MemberTrainer(const TrainingJob& job, Member& member, MemberProgress& progress);

  // The tasks of a step, and what follows when all tasks of a stage are done.
  void compute_slice(const Task& task, GradientSlot& slot, Scratch& scratch) const;
  void finish_gradient(const Task& task, GradientSlot& slot);  // throws where the loss is not finite
  void update_tensor(const Task& task, const GradientSlot& slot, Scratch& scratch);
  void finish_step();

  double loss() const { return loss_; }  // of the last gradient

 private:
  void unfold(std::size_t slices, GradientSlot& slot) const;
  std::size_t slices_of(const UpdateGroup& group, std::uint64_t step) const;
  void update_hyper(const UpdateGroup& group, std::span<const float* const> slices, std::uint64_t step);
  void update_log_sd(const UpdateGroup& group, const GradientSlot& slot, const Task& task, Scratch& scratch);

  const TrainingJob& job_;
  Member& member_;
  MemberProgress& progress_;
  BatchOrder order_;
  ValueNoise value_noise_;
  Network<float> network_;
  AlignedVector<float> variances_;  // [parameters] exp(2 log_sd); empty where the weights are certain
  double loss_ = 0;
};

}  // namespace drift::cpu
