#include <fmt/format.h>

#include "core/atomic_file.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/tune_run.h"
#include "fitting/plan_split.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

// Of a fit's time a search takes by far the most.
constexpr double kSearchShare = 0.9;

FitPlan searched(const FitPlan& plan, const Dataset& data, const Control& control, const RunHooks& hooks) {
  const RunSettings& settings = plan.settings;
  const std::string& model = settings.output.model;
  const std::string study = !settings.tune.study.empty() ? settings.tune.study : model.empty() ? "" : model + ".study.json";
  control.tell(fmt::format("\nSearching for settings, {} trials{}.", settings.tune.trials,
                           study.empty() ? std::string() : "; the study is " + study));
  const TuneResult result = tune_run(plan, data, study, control, hooks.trial);
  if (!result.best) throw Error("no trial of the search succeeded; drift tune --show prints why each failed");
  FitPlan found = plan_fit(result.settings, data, Judging::automatic, control);
  if (hooks.planned) hooks.planned(found);
  return found;
}

}  // namespace

FittedRun run_fit(const RunSettings& settings, const Dataset& data, const Control& control, const RunHooks& hooks) {
  const RunSettings run = settings_under(control, settings);
  check_outputs(run_inputs(run), run_outputs(run));
  const bool searches = run.tune.method == TuneMethod::bayes;
  const double begin = searches ? kSearchShare : 0.0;
  FittedRun out = {.plan = plan_fit(run, data, Judging::automatic, control), .result = {}};
  if (hooks.planned) hooks.planned(out.plan);
  if (searches) out.plan = searched(out.plan, data, control.part(0.0, begin), hooks);
  Control fitting = control.part(begin, 1.0);
  const std::string& model = run.output.model;
  const bool networks = has_networks(out.plan);  // checkpoints are of their training
  if (networks && fitting.checkpoint.empty() && !model.empty()) fitting.checkpoint = model + ".checkpoint";
  out.result = fit(out.plan, data, fitting);
  if (!model.empty()) {
    save_field_model(model, out.result.model);
    if (networks) remove_with_attempts(fitting.checkpoint);
  }
  return out;
}

}  // namespace drift
