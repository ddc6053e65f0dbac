#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/dataset.h"
#include "drift/engine.h"
#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/field_model.h"
#include "drift/folds.h"
#include "drift/predict.h"
#include "drift/run_settings.h"
#include "drift/score.h"
#include "drift/split.h"

namespace DRIFT_PUBLIC drift {

// From observations to a trained model. Two steps, so that the choices can be shown before the long one begins.

struct FitPlan {
  RunSettings settings;
  Domain domain;  // fitted to the training observations
  SplitOptions split_options;
  Split split;                    // of all observations but those of the test set
  std::vector<std::size_t> test;  // the given test set: it alone scores, and held-out or out-of-fold observations calibrate
  FitMethod method = FitMethod::blend;
  Folds folds = {};          // of the training observations: networks leave one out each; none: all see all
  bool out_of_fold = false;  // scores and calibration come from forecasts out of fold, and nothing is held out for good
  NetworkSpec spec;
  Recipe recipe;
  double nugget_sd = 0.0;  // noise of single observations, by how neighbours differ, in the values' unit
  std::size_t members = 0;
  std::vector<std::string> choices;  // each choice and its reason, as a sentence
  double memory_mib = 0.0;           // that fit() will need at most; 0: not foreseen, of another method
  std::string fingerprint;           // of settings and data: a checkpoint with another belongs to another run
};

// Chooses what the settings leave open. Throws Error on data that cannot define a field (too few, all equal), UsageError on
// settings that do not fit the data.
enum class Judging {
  automatic,  // out of fold, unless the settings hold observations out or the method cannot
  held_out,   // on observations held out, which no method sees: comparisons
};
FitPlan plan_fit(const RunSettings& settings, const Dataset& data, Judging judging = Judging::automatic,
                 const Control& control = {});

// Seconds that fit() will take on this machine, reading and saving aside, by timing a few seconds of its parts, or another method
// on samples for at most some 15 s; with those of the search before it, if the settings ask for one. None: a method too slow to
// be timed on a sample that tells, or a search for settings on which the time of a trial depends (layers, features).
std::optional<double> foresee_seconds(const FitPlan& plan, const Dataset& data, const Control& control = {});
// The same of one trial of a search.
std::optional<double> foresee_trial_seconds(const FitPlan& plan, const Dataset& data, const Control& control = {});

// Memory of the GPU that fit() will take, MiB; none: it trains no networks, or not on a GPU. Throws Error where it has too little
// for one network.
std::optional<double> foresee_gpu_mib(const FitPlan& plan);

// The engine that the settings ask for.
std::unique_ptr<Engine> make_engine(const RunSettings& settings);

// RMSE of each part on observations that it has not seen, in the values' unit; 0: there is no such part.
struct PartWorth {
  double network_rmse = 0.0, process_rmse = 0.0, blend_rmse = 0.0;
  double process_weight = 0.0;
};

// Inverse distance weighting beside the model, on the observations that score it or an even part of them.
struct Baseline {
  double rmse = 0.0, model_rmse = 0.0;      // in the values' unit
  std::size_t count = 0;                    // observations that all forecast
  std::optional<double> kriging_rmse = {};  // of a nearest-neighbour process; none: the model has a process, or is one
};

struct FitResult {
  FieldModel model;
  std::optional<Scores> held_out;     // of sd_total against held-out observations, those that calibrated aside, or the test set
  std::size_t calibrated_on = 0;      // held-out observations used for calibration only
  bool scores_calibrated = false;     // too few to halve: the observations scored also calibrated, and scores are optimistic
  std::optional<PartWorth> worth;     // out of fold; none without a process
  std::optional<Baseline> baseline;   // none where nothing was scored
  std::vector<std::string> warnings;  // whole sentences: signs that the model should not be trusted
  std::uint64_t steps = 0;            // per member
  double train_s = 0.0;
};

// Throws Stopped when stopped; the checkpoint, if there is one, then holds what was learnt.
FitResult fit(const FitPlan& plan, const Dataset& data, const Control& control = {});

// Scores of sd_total on observations, all together and by group.
struct ModelScores {
  Scores all;
  std::vector<std::pair<std::string, Scores>> groups;  // by name; empty where nothing was asked for
  std::optional<double> trained_share;  // of the observations that trained the model, from a sample; none: not known
  double furthest_days = 0.0;           // outside the training span; negative: before it
  FarPoints far = {};
};
enum class ScoreGroups {
  none,
  platform,
  day,     // of the calendar
  region,  // boxes of 30 degrees
};
constexpr auto enum_words(ScoreGroups) {
  return std::to_array<EnumWord<ScoreGroups>>({{"none", ScoreGroups::none},
                                               {"platform", ScoreGroups::platform},
                                               {"day", ScoreGroups::day},
                                               {"region", ScoreGroups::region}});
}
// Throws UsageError where the observations do not go with the model (check_goes_with).
ModelScores score_model(Engine& engine, const FieldModel& model, const Dataset& data, ScoreGroups groups = ScoreGroups::platform,
                        const Control& control = {});

}  // namespace drift
