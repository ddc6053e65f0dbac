#include "drift/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "drift/bench.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/version.h"
#include "print.h"
#include "progress.h"
#include "run_options.h"
#include "scores_text.h"
#include "tune_report.h"
#include "verb_control.h"
#include "warnings.h"

namespace {

struct FitOptions {
  std::vector<std::string> inputs;
  bool fresh = false, plan_only = false, json = false, quiet = false;
};

drift::RunSettings settle(const FitOptions& options, const RunOptions& flags) {
  drift::RunSettings settings = flags.settings(options.inputs);
  const bool run_file = is_run_file(options.inputs);
  if (settings.data.files.empty()) {
    throw drift::UsageError(
        run_file ? fmt::format("{} names no observations; add files = [\"...\"] to its table [data]", options.inputs[0])
                 : "fit needs observations: drift fit FILES --value NAME --out model.safetensors");
  }
  if (settings.output.model.empty() && !options.plan_only) {
    throw drift::UsageError(run_file
                                ? fmt::format("{} does not name the model's file; add model = \"model.safetensors\" to its table "
                                              "[output], or give --out",
                                              options.inputs[0])
                                : "fit needs --out, the model's file: --out model.safetensors");
  }
  return settings;
}

class Fit {
 public:
  Fit(const FitOptions& options, drift::RunSettings settings)
      : options_(options), settings_(std::move(settings)), verb_(!options.quiet && !options.json, !options.quiet) {}

  void run() {
    drift::check_outputs(input_paths(options_.inputs, settings_), drift::run_outputs(settings_));
    const drift::Reading reading = drift::read_run(settings_, verb_.quiet_job());
    report_reading(verb_, reading);
    if (options_.plan_only) {
      const drift::FitPlan plan = drift::plan_fit(settings_, reading, drift::Judging::automatic, verb_.quiet_job());
      show(plan);
      foresee(plan, reading);
      return;
    }
    drift::Control control = verb_.job("Training");
    control.fresh = options_.fresh;
    const drift::FittedRun run = drift::run_fit(
        settings_, reading, control,
        {.planned = [this](const drift::FitPlan& plan) { show(plan); },
         .trial = [this](const drift::Study& study, const drift::Trial& trial) { say(trial_line(study, trial)); }});
    verb_.end_job();
    report(run.plan, run.result);
  }

 private:
  void say(const std::string& text) const { verb_.say(text); }

  void show(const drift::FitPlan& plan) const {
    for (const std::string& choice : plan.choices) say(choice);
  }

  void foresee(const drift::FitPlan& plan, const drift::Reading& reading) const {
    say(plan.memory_mib > 0.0 ? fmt::format("Memory: about {} MiB.", drift::grouped(std::round(plan.memory_mib)))
                              : "Memory: not foreseen; this method makes sure that there is enough before it begins.");
    if (const auto mib = drift::foresee_gpu_mib(plan))
      say(fmt::format("Memory of the GPU: about {} MiB.", drift::grouped(std::round(*mib))));
    const auto seconds = drift::foresee_seconds(plan, reading, verb_.quiet_job());
    const bool search = settings_.tune.method == drift::TuneMethod::bayes;
    say(seconds  ? fmt::format("Time: {} on this machine{}.", about_text(*seconds), search ? ", search and fit together" : "")
        : search ? "Time: not foreseen; that of a trial depends on the layers and features that are searched."
                 : "Time: not foreseen; even samples too small to tell take this method too long.");
  }

  static std::string worth_text(const drift::PartWorth& worth, const std::string& unit) {
    if (worth.network_rmse == 0.0) return fmt::format("Out-of-fold RMSE of the process: {:.4g}{}.", worth.process_rmse, unit);
    return fmt::format("Out-of-fold RMSE: networks {:.4g}{}, process {:.4g}, blend {:.4g} ({:.0f} % process).",
                       worth.network_rmse, unit, worth.process_rmse, worth.blend_rmse, 100.0 * worth.process_weight);
  }

  static std::string noise_text(const drift::FitPlan& plan, const drift::FitResult& result, const std::string& unit) {
    const drift::FieldInfo& info = result.model.info;
    const bool given = plan.settings.uncertainty.noise_sd || plan.settings.uncertainty.noise == drift::NoiseSource::sigma;
    if (!given && result.held_out && info.noise_sd < 1e-3 * result.held_out->rmse) {
      return "Noise of an observation: too small to separate from the field's uncertainty.";
    }
    return fmt::format("Noise of an observation: sd {:.3g}{} ({}).", info.noise_sd, unit,
                       given                       ? "given"
                       : result.model.method_noise ? "the method's estimate"
                       : result.model.process      ? "the process's estimate"
                       : result.held_out           ? "estimated from held-out residuals"
                                                   : "estimated from training residuals; likely too low");
  }

  static std::string method_text(const drift::FitPlan& plan) {
    return drift::text_of(plan.method == drift::FitMethod::other ? *plan.settings.fit.method : drift::FitChoice(plan.method));
  }

  static nlohmann::ordered_json parts_json(const drift::FitResult& result) {
    if (!result.worth) return nullptr;
    return {{"process_weight", result.worth->process_weight},
            {"network_rmse", result.worth->network_rmse},
            {"process_rmse", result.worth->process_rmse},
            {"blend_rmse", result.worth->blend_rmse}};
  }

  static nlohmann::ordered_json baseline_json(const drift::FitResult& result) {
    if (!result.baseline) return nullptr;
    return {{"method", "inverse_distance"},
            {"rmse", result.baseline->rmse},
            {"kriging_rmse", result.baseline->kriging_rmse ? nlohmann::ordered_json(*result.baseline->kriging_rmse) : nullptr},
            {"model_rmse", result.baseline->model_rmse},
            {"observations", result.baseline->count}};
  }

  static std::string baseline_text(const drift::Baseline& baseline, std::size_t scored, const std::string& unit) {
    const double kriging = baseline.kriging_rmse.value_or(INFINITY), best = std::min(baseline.rmse, kriging);
    const char* const winner = baseline.model_rmse < best ? "The model" : kriging < baseline.rmse ? "Kriging" : "The baseline";
    const double better = 1.0 - std::min(best, baseline.model_rmse) / std::max({best, baseline.model_rmse, 1e-300});
    return fmt::format("Baseline, inverse distance weighting on {}: RMSE {:.4g}{}{} against {:.4g}. {} wins by {:.0f} %.",
                       baseline.count == scored ? "the same observations"
                                                : fmt::format("{} of these", drift::grouped(static_cast<double>(baseline.count))),
                       baseline.rmse, unit,
                       baseline.kriging_rmse ? fmt::format(", nearest-neighbour kriging {:.4g},", kriging) : std::string(),
                       baseline.model_rmse, winner, 100.0 * better);
  }

  void report(const drift::FitPlan& plan, const drift::FitResult& result) const {
    if (options_.json) {
      nlohmann::ordered_json json = {{"model", settings_.output.model},
                                     {"training_observations", plan.split.training.size()},
                                     {"held_out_observations", plan.split.held_out.size()},
                                     {"test_observations", plan.test.size()},
                                     {"members", plan.members},
                                     {"steps", result.steps},
                                     {"domain", nlohmann::ordered_json::parse(drift::to_json(plan.domain))},
                                     {"spec", nlohmann::ordered_json::parse(drift::to_json(plan.spec))},
                                     {"recipe", nlohmann::ordered_json::parse(drift::to_json(plan.recipe))},
                                     {"method", method_text(plan)},
                                     {"out_of_fold", plan.out_of_fold},
                                     {"parts", parts_json(result)},
                                     {"noise_sd", result.model.info.noise_sd},
                                     {"spread_scale", result.model.info.spread_scale},
                                     {"calibration_observations", result.calibrated_on},
                                     {"scores_also_calibrated", result.scores_calibrated},
                                     {"scores", result.held_out ? nlohmann::ordered_json::parse(drift::to_json(*result.held_out))
                                                                : nlohmann::ordered_json(nullptr)},
                                     {"baseline", baseline_json(result)},
                                     {"warnings", result.warnings},
                                     {"train_s", result.train_s},
                                     {"peak_rss_mb", drift::peak_rss_mib()},
                                     {"build", drift::build_id()}};
      print_json(json);
      for (const std::string& warning : result.warnings) verb_.warn(warning);
      return;
    }
    say(fmt::format("Trained in {}.", clock_text(result.train_s)));
    const drift::FieldInfo& info = result.model.info;
    const std::string unit = info.value.unit == "1" || info.value.unit.empty() ? "" : " " + info.value.unit;
    if (result.worth) say(worth_text(*result.worth, unit));
    say(noise_text(plan, result, unit));
    if (info.spread_scale != 1.0) say(fmt::format("Calibration: the field's spread is multiplied by {:.3g}.", info.spread_scale));
    if (result.held_out) {
      say(fmt::format("\n{}{}:\n{}",
                      !plan.test.empty() ? "Test set"
                      : plan.out_of_fold ? "Out-of-fold forecasts"
                                         : "Held-out observations",
                      !plan.test.empty()         ? ""
                      : result.scores_calibrated ? " (also used to calibrate: optimistic)"
                      : result.calibrated_on > 0 ? fmt::format(" (besides {} that calibrated)",
                                                               drift::grouped(static_cast<double>(result.calibrated_on)))
                                                 : "",
                      scores_text(*result.held_out, info.value.unit)));
    }
    if (result.baseline) say(baseline_text(*result.baseline, result.held_out->count, unit));
    for (const std::string& warning : result.warnings) verb_.warn(warning);
    say(fmt::format("{}  the model\nNext: drift predict {} --out map.nc", settings_.output.model, settings_.output.model));
  }

  const FitOptions& options_;
  drift::RunSettings settings_;
  VerbControl verb_;
};

}  // namespace

void add_fit(CLI::App& app) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* verb = app.add_subcommand("fit", "Fit a model to observations");
  verb->footer(
      "Minimal call: drift fit FILES --value sla --out model.safetensors\n"
      "If stopped by ctrl-C or killed, the same command resumes from the last checkpoint.");
  verb->add_option("INPUT", options->inputs, "A run file (.toml), or observations: paths or globs, NetCDF or CSV")->type_name("");
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->add_flag("--fresh", options->fresh, "Start afresh and ignore any checkpoint")->group("Run");
  verb->add_flag("--plan", options->plan_only, "Print the plan and exit")->group("Run");
  verb->add_flag("--json", options->json, "Print the result as JSON")->group("Run");
  add_quiet(*verb, options->quiet);
  verb->callback([options, flags] { Fit(*options, settle(*options, *flags)).run(); });
}
