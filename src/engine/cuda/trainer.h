#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/device_data.h"
#include "engine/cuda/fused_passes.h"
#include "engine/cuda/graph.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/muon.h"
#include "engine/cuda/network.h"
#include "engine/cuda/passes.h"
#include "engine/cuda/trained_member.h"
#include "engine/scales.h"
#include "train/update_groups.h"

namespace drift::cuda {

// Members of one run, or of runs that go together (run_groups.h), that stand at the same step: in each launch all of them.
class Trainer {
 public:
  Trainer(std::span<const TrainedMember> members, const DeviceData& data, std::size_t observations, Precision precision,
          const Stream& stream);

  // Called when some steps are done: their losses [member][step], and the first of these steps. True: stop.
  using Report = std::function<bool(const std::vector<std::vector<float>>& losses, std::uint64_t first_step)>;
  // Takes all members to `until`, or to where a report asked to stop, and writes weights and progress back.
  void advance(std::uint64_t until, const Report& report);

 private:
  void make_passes();
  void enqueue_pass(int first, int count, int rows, int partial_first, const Gather& batch, cudaStream_t stream);
  void upload_moments();
  void prepare_updates();
  void enqueue_step(int rows, cudaStream_t stream);
  FusedAdam fused_adam_settings();
  void enqueue_updates(cudaStream_t stream);
  void enqueue_finish(int partials, int rows, cudaStream_t stream);
  int rows_of(std::uint64_t step) const;
  const Graph& graph(int rows);
  void collect(std::uint64_t first, std::uint64_t count, std::vector<std::vector<float>>& losses);

  std::span<const TrainedMember> members_;
  const Plan& plan_;  // of the first member, as the recipe is: of these only what all have in common is used
  const Recipe& recipe_;
  const DeviceData& data_;
  const Stream& stream_;
  Precision precision_;
  Wanted wanted_;
  bool variational_, trains_hyper_;
  std::size_t observations_;
  Network network_;
  std::unique_ptr<Passes> passes_;  // one of the two
  std::unique_ptr<FusedPasses> fused_;
  std::size_t gradient_size_;  // a member's
  RunNumbers run_ = {};
  DeviceArray<MemberNumbers> member_numbers_;
  DeviceArray<StepNumbers> numbers_;
  DeviceArray<float> values_, weights_, gradient_, moment1_, moment2_, losses_;
  DeviceArray<double> partial_, hyper_;
  DeviceArray<std::uint8_t> hyper_trained_;
  DeviceArray<Rule> rules_, log_sd_rules_;
  std::vector<std::unique_ptr<Muon>> muon_;
  bool muon_by_layer_ = false;                  // it follows each bottleneck's gradient, and makes the images
  std::size_t adam_first_ = 0, adam_last_ = 0;  // parameters that the plain kernel updates by Adam
  std::size_t capacity_ = 0;                    // rows of a pass
  int partials_ = 0;
  std::uint64_t first_step_ = 0, losses_stride_ = 0;
  std::map<int, std::unique_ptr<Graph>> graphs_;
};

}  // namespace drift::cuda
