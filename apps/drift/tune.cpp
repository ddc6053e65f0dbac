#include "drift/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/plot.h"
#include "drift/tune_run.h"
#include "print.h"
#include "progress.h"
#include "run_options.h"
#include "tune_report.h"
#include "verb_control.h"
#include "warnings.h"

namespace {

struct TuneOptions {
  std::vector<std::string> inputs;
  std::string show, write_run, picture;
  bool plan_only = false, json = false, quiet = false;
};

drift::RunSettings settle(const TuneOptions& options, const RunOptions& flags) {
  drift::RunSettings settings = flags.settings(options.inputs);
  if (settings.data.files.empty())
    throw drift::UsageError("tune needs observations, or a run file that names them: drift tune RUN.toml --study study.json");
  if (settings.tune.method == drift::TuneMethod::none) settings.tune.method = drift::TuneMethod::bayes;
  if (settings.tune.method == drift::TuneMethod::gradient) {
    throw drift::UsageError(
        "the method gradient trains the settings with the weights, in drift fit: drift fit ... --tune gradient; drift tune "
        "searches");
  }
  if (settings.tune.study.empty() && !settings.output.model.empty()) settings.tune.study = settings.output.model + ".study.json";
  if (settings.tune.study.empty() && !options.plan_only)
    throw drift::UsageError("tune needs --study, the search's file: --study study.json");
  return settings;
}

void print_plan(const drift::FitPlan& plan, const drift::Reading& reading, const drift::Control& control) {
  for (const std::string& choice : plan.choices) print("{}\n", choice);
  const std::size_t trials = plan.settings.tune.trials;
  const auto seconds = drift::foresee_trial_seconds(plan, reading, control);
  print("Search: {} trial{}.\n", trials, trials == 1 ? "" : "s");
  if (!seconds) {
    print("Time: not foreseen; that of a trial depends on the layers and features that are searched.\n");
  } else {
    print("Time: {} per trial, {} in all on this machine.\n", about_text(*seconds),
          about_text(*seconds * static_cast<double>(trials)));
  }
}

void run(const TuneOptions& options, const RunOptions& flags) {
  if (!options.show.empty()) {
    drift::check_outputs({{"the study", options.show}}, {{"the picture", options.picture}});
    const drift::Study study = drift::load_study(options.show);
    print("{}", options.json ? study_json(study) + "\n" : study_text(study));
    if (!options.picture.empty())
      drift::plot_progress(progress_of(study), options.picture, VerbControl(false, false).quiet_job());
    return;
  }
  const drift::RunSettings settings = settle(options, flags);
  drift::check_outputs(
      input_paths(options.inputs, settings),
      {{"the study", settings.tune.study}, {"the run file", options.write_run}, {"the picture", options.picture}});
  const bool talk = !options.quiet && !options.json;
  const VerbControl verb(talk, false);
  const drift::Control control = verb.quiet_job();
  const drift::Reading reading = drift::read_run(settings, control);
  report_reading(verb, reading);
  const drift::FitPlan plan = drift::plan_fit(settings, reading, drift::Judging::automatic, control);
  if (options.plan_only) {
    print_plan(plan, reading, control);
    return;
  }
  const drift::TuneResult result =
      drift::tune_run(plan, reading, settings.tune.study, control,
                      [&](const drift::Study& study, const drift::Trial& trial) { verb.say(trial_line(study, trial)); });
  if (!result.best) throw drift::Error("no trial of the search succeeded; drift tune --show prints why each failed");
  drift::RunSettings found = result.settings;
  found.tune = {};
  if (!options.write_run.empty()) {
    const std::string head = fmt::format("# Settings found by drift tune ({})\n", settings.tune.study);
    drift::write_text_file(options.write_run, head + drift::to_toml(found));
  }
  if (!options.picture.empty()) drift::plot_progress(progress_of(result.study), options.picture, control);
  if (options.json) {
    print("{}\n", study_json(result.study));
    return;
  }
  if (!talk) return;
  print("\n{}", study_text(result.study));
  print("Chosen{}: {}\n", result.alpha > 0.0 ? fmt::format(" with roughness weighted by {:g}", result.alpha) : "",
        drift::describe(result.study.space, result.study.trials[*result.best].point));
  if (!options.write_run.empty()) print("{}  a run file with these settings\n", options.write_run);
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* verb = app.add_subcommand("tune", "Search for settings that suit the observations");
  verb->footer(
      "drift tune run.toml --study study.json --write-run tuned.toml\nIf stopped, the same command resumes; drift fit run.toml "
      "--tune bayes searches and then fits.");
  verb->add_option("INPUT", options->inputs, "A run file (.toml), or observations: paths or globs, NetCDF or CSV")->type_name("");
  verb->add_option("--show", options->show, "Print this study and exit")->type_name("");
  verb->add_option("--write-run", options->write_run, "Write a run file with the settings found")->type_name("");
  verb->add_option("--picture", options->picture, "Draw the search's progress (PNG or PDF)")->type_name("");
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->add_flag("--plan", options->plan_only, "Print the plan, with the time of a trial, and exit")->group("Run");
  verb->add_flag("--json", options->json, "Print the study as JSON")->group("Run");
  add_quiet(*verb, options->quiet);
  verb->callback([options, flags] { run(*options, *flags); });
}
