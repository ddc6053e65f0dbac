#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drift/backend.h"
#include "drift/control.h"
#include "drift/ensemble.h"
#include "drift/export.h"
#include "drift/matrix_view.h"
#include "drift/recipe.h"

namespace DRIFT_PUBLIC drift {

// Observations as the engine sees them: float32, standardised, rows and columns only.
struct TrainingSet {
  MatrixView<const float> coordinates;  // [N, coordinates]: the spatial ones, then time
  MatrixView<const float> values;       // [N, outputs]
  std::span<const float> weights = {};  // [N], >= 0, multiply each observation's loss; empty: all one
  // [N] below fold_count: a member never learns from the fold that it leaves out; empty: every member sees every observation.
  // Its predictions there are then out-of-fold forecasts.
  std::span<const std::uint8_t> folds = {};
  int fold_count = 0;

  bool weighted() const { return !weights.empty() || !folds.empty(); }
  float weight(std::size_t row) const { return weights.empty() ? 1.0F : weights[row]; }
};

// The fold that a member leaves out.
inline int left_out_fold(std::uint32_t member, int fold_count) {
  return static_cast<int>(member % static_cast<std::uint32_t>(fold_count));
}

// Weight of an observation's loss in a member: zero in the fold left out, elsewhere scaled up so that the mean is unchanged.
inline float weight_in_member(const TrainingSet& data, std::size_t row, std::uint32_t member) {
  if (data.folds.empty()) return data.weight(row);
  const auto folds = static_cast<float>(data.fold_count);
  return data.folds[row] == left_out_fold(member, data.fold_count) ? 0.0F : data.weight(row) * folds / (folds - 1.0F);
}

// Everything training has computed besides the weights. Empty before the first step; owned by the caller, so that a run can be
// stopped, saved and resumed with bit-identical results.
struct MemberProgress {
  std::uint64_t step = 0;      // steps taken
  std::vector<float> moment1;  // [parameters, then log_sd] Adam's first moment; for Muon's matrices, the momentum
  std::vector<float> moment2;  // [parameters, then log_sd] Adam's second moment; unused entries stay zero
  std::vector<float> losses;   // [step] of each step taken so far, weight decay not counted
};
struct TrainingState {
  std::vector<MemberProgress> members;
};

// One of several ensembles that are trained at once.
struct TrainingRun {
  Ensemble* ensemble = nullptr;
  TrainingState* state = nullptr;  // nullptr: training starts afresh, and only the weights are kept
  Recipe recipe = {};
};

// Destinations of predictions. Empty views are not filled.
struct PredictionViews {
  MatrixView<float> mean = {};      // [n, outputs]
  MatrixView<float> variance = {};  // [n, outputs] between members, divided by their number less one; zero for one member
  MatrixView<float> members = {};   // [n, members * outputs], a member's outputs side by side
};

// An ensemble prepared for prediction, for many calls on a few points each, as the blocks of a map: on a GPU the weights and
// the room for a block stay on the device from call to call. Refers to its engine and to the ensemble, which must outlive it, the
// ensemble unchanged. Results are those of the engine's own functions, to the bit. Calls may come from several threads.
class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual void predict(MatrixView<const float> coordinates, const PredictionViews& out) = 0;
  virtual void input_gradient(MatrixView<const float> coordinates, MatrixView<float> gradient) = 0;
  // Engine::head_inputs of every member: [n, members * head_input_count], a member's side by side.
  virtual void head_inputs(MatrixView<const float> coordinates, MatrixView<float> inputs) = 0;
};

// One backend: a whole ensemble, or several, at a time. Calls may come from several threads.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string name() const = 0;  // "cpu" or "cuda"

  // Members with variational weights (Member::log_sd) are trained as such: the means and the log sds follow the evidence lower
  // bound (src/train/variational.h). Takes every member to `until_step` (at most the recipe's total). Returns early, each member
  // at the end of a step, when a stop is requested. Progress, reported a few times a second, is the share of the recipe's steps
  // of all members, with observations per second and the mean loss since the last report (weight decay not included). Throws
  // Error naming member, step and rate when a loss is not finite.
  virtual void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe,
                       std::uint64_t until_step, const Control& control) = 0;

  // advance() of each of the runs on the same observations; progress is the share of all of them. A GPU trains runs whose
  // networks have the same shapes and whose recipes differ in rates, weight decay and value noise alone side by side, so that
  // small ensembles fill it; elsewhere one follows the other. Returns for each run why it failed, empty where it did not: a run
  // that fails, as by diverging, does not stop the others.
  virtual std::vector<std::string> advance_together(std::span<const TrainingRun> runs, const TrainingSet& data,
                                                    std::uint64_t until_step, const Control& control);

  // Any number of points, in constant extra memory.
  virtual void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out) = 0;

  // d mean_o / d coordinate_i, analytically: gradient [n, outputs * coordinates], an output's row of coordinates side by side.
  // On the sphere the three spatial entries are the gradient along the sphere (tangent to it), per radian.
  virtual void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient) = 0;

  // For calls block by block; by default it calls the functions here.
  virtual std::unique_ptr<Predictor> prepare(const Ensemble& ensemble);

  // The factor of the last trained matrix of a member, its scale included: f = inputs . matrix. [n, head_input_count]
  virtual void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                           MatrixView<float> inputs) = 0;

  // Threads of the host that work beside the engine should keep to: those it was made with; 0: one per core.
  virtual int host_threads() const { return 0; }
};

// Inputs of the last trained matrix: the head's 2B, or the last layer's H features where there is no head, and a one for a bias.
std::size_t head_input_count(const NetworkSpec& spec);

struct EngineOptions {
  int threads = 0;                        // of the CPU; 0: one per core available to this process
  Precision precision = Precision::tf32;  // the GPU's; the CPU's is float32
  int gpus = 0;                           // at most; they share members and points. 0: all there are
};

std::unique_ptr<Engine> make_cpu_engine(const EngineOptions& options = {});
std::unique_ptr<Engine> make_cuda_engine(const EngineOptions& options = {});  // throws Error if there is no GPU
// Why no GPU can be used, as a sentence; empty if one can.
std::string why_no_cuda();

// Automatic: a GPU if there is one, else the CPU.
std::unique_ptr<Engine> make_engine(Backend backend, const EngineOptions& options = {});

// Draws nothing, decides nothing: runs `engine` from `state` to the recipe's end, saving a checkpoint periodically.
struct TrainOptions {
  Control control = {};  // its checkpoint is written periodically and when training is stopped
  double checkpoint_every_s = 300.0;
  Metadata metadata = {};  // travels with the checkpoint, so that a run can tell its own from another's
};
// Throws Stopped when stopped, after saving the checkpoint if there is one; ensemble and state then hold the steps taken so far.
void train(Engine& engine, Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe,
           const TrainOptions& options = {});

// The same for several ensembles on the same observations, without checkpoints: Engine::advance_together() to the recipes' ends.
// Returns for each run why it failed. Throws Stopped when stopped.
std::vector<std::string> train_together(Engine& engine, std::span<const TrainingRun> runs, const TrainingSet& data,
                                        const Control& control = {});

// A checkpoint is a model file that holds the training state and the recipe too.
struct Checkpoint {
  Ensemble ensemble;
  TrainingState state;
  Recipe recipe;
  Metadata metadata = {};
};
void save_checkpoint(const std::filesystem::path& path, const Ensemble& ensemble, const TrainingState& state,
                     const Recipe& recipe, const Metadata& metadata = {});
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace drift
