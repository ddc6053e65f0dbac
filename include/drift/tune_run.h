#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "drift/export.h"
#include "drift/fit.h"
#include "drift/tune.h"

namespace DRIFT_PUBLIC drift {

// The search for a run's settings: each trial trains a small ensemble on part of the training observations and scores it on the
// rest, so that what fit() holds out stays unseen.

// The settings to search, with their ranges on these observations; none: lengthscales and amplitude. Throws UsageError for those
// that the data do not have.
SearchSpace search_space(const FitPlan& plan, const Dataset& data, const std::vector<SearchedSetting>& wanted);

struct TuneResult {
  Study study;
  std::optional<std::size_t> best;  // of study.trials
  double alpha = 0.0;               // weight of the roughness by which the best was chosen
  RunSettings settings;             // the plan's, with the best trial's values
};

using TrialDone = std::function<void(const Study& study, const Trial& trial)>;

// Runs or resumes the study at `path`; an empty path: nothing is saved. Settings of [tune] in plan.settings say what is
// searched and how. Throws UsageError where the study there is of other observations or settings, Stopped when stopped.
TuneResult tune_run(const FitPlan& plan, const Dataset& data, const std::filesystem::path& path, const Control& control = {},
                    const TrialDone& done = {});

// Results of a trial besides its value.
struct TrialParts {
  double score = 0.0;      // of the validation observations: mean loss, CRPS, NLPD or minus the ELBO
  double roughness = 0.0;  // of the mean field
  double check = 0.0;      // score of another part of them, by which alpha is chosen
};
std::optional<TrialParts> trial_parts(const Trial& trial);  // none: the trial failed

// The weight alpha, of 0, 0.01, 0.03, 0.1, 0.3 and 0.9, for which the trial with the least (1 - alpha) score + alpha roughness
// has the least check; the smallest on a tie.
double choose_alpha(const Study& study);

// The whole sequence from observations to a saved model: plan, search for settings if [tune] requests it, fit, and save if
// [output] names a file. The checkpoint (unless the control names another) and the study lie beside that file; the checkpoint is
// removed at the end.
struct RunHooks {
  std::function<void(const FitPlan& plan)> planned = {};  // again after a search, with what it found
  TrialDone trial = {};
};
struct FittedRun {
  FitPlan plan;
  FitResult result;
};
FittedRun run_fit(const RunSettings& settings, const Dataset& data, const Control& control = {}, const RunHooks& hooks = {});

}  // namespace drift
