#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "drift/read_columns.h"
#include "number_checks.h"
#include "print.h"
#include "run_options.h"
#include "scores_text.h"
#include "verb_control.h"
#include "warnings.h"

namespace {

constexpr double kWorthSaying = 0.01;  // of the observations scored: a few may be in both sets of files

struct ScoreOptions {
  std::string model;
  std::vector<std::string> files;
  std::string by = "platform";
  std::string forecasts, observed = "observed", mean = "mean", sd, lower, upper;  // a table, and its columns
  double level = 0.95;
  bool json = false, quiet = false;
};

// Forecasts of any origin, a row each.
void score_table(const ScoreOptions& options) {
  if (!options.model.empty()) throw drift::UsageError("give a model and observations, or --forecasts, not both");
  const bool intervals = !options.lower.empty() || !options.upper.empty();
  if (intervals && (options.lower.empty() || options.upper.empty() || !options.sd.empty())) {
    throw drift::UsageError("give the spread of the forecasts by --sd, or by both --lower and --upper");
  }
  std::vector<std::string> names = {options.observed, options.mean};
  if (intervals) names.insert(names.end(), {options.lower, options.upper});
  if (!options.sd.empty()) names.push_back(options.sd);
  const drift::Columns columns = drift::read_columns(options.forecasts, names);
  const auto& values = columns.values;
  const drift::Scores scores =
      intervals ? drift::score_intervals(values[0], values[1], values[2], values[3], options.level)
                : drift::score_forecast(values[0], values[1], options.sd.empty() ? std::vector<double>() : values[2]);
  if (options.json) {
    print_json(nlohmann::ordered_json::parse(drift::to_json(scores)));
    return;
  }
  if (columns.missing > 0 && !options.quiet) print("{} rows with missing values are left out.\n\n", columns.missing);
  print("{}", scores_text(scores, ""));
}

void run(const ScoreOptions& options, const RunOptions& flags) {
  if (!options.forecasts.empty()) {
    score_table(options);
    return;
  }
  if (options.model.empty() || options.files.empty()) {
    throw drift::UsageError(
        "score needs a model and observations: drift score MODEL FILES; or a table: drift score --forecasts TABLE.csv");
  }
  const drift::FieldModel model = drift::load_field_model(options.model);
  // Files are read as those were that trained, but for the limits of space and time.
  drift::RunSettings settings = drift::run_settings_from_toml(model.settings, options.model + " (settings)");
  settings.data.box = {};
  settings.data.from = settings.data.to = "";
  settings.backend = drift::Backend::automatic;  // the machine that trained may have had a GPU that this one has not
  flags.apply(settings);
  const VerbControl verb(!options.quiet && !options.json, false);
  const drift::Control control = verb.quiet_job();
  const drift::Reading reading = drift::read_observations(options.files, drift::read_options(settings), control);
  report_reading(verb, reading);
  const auto engine = drift::make_engine(settings);
  const drift::ModelScores scores =
      drift::score_model(*engine, model, reading, drift::enum_named<drift::ScoreGroups>("--by", options.by), control);
  warn_of_times(verb, scores.furthest_days);
  warn_of_far_points(verb, model, scores.far, scores.all.count);
  if (scores.trained_share.value_or(0.0) >= kWorthSaying) {
    verb.warn(fmt::format("{:.0f} % of these observations trained the model: the scores are optimistic",
                          100.0 * *scores.trained_share));
  }
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(drift::to_json(scores.all));
    json["trained_share"] =
        scores.trained_share ? nlohmann::ordered_json(*scores.trained_share) : nlohmann::ordered_json(nullptr);
    for (const auto& [name, its] : scores.groups) json["groups"][name] = nlohmann::ordered_json::parse(drift::to_json(its));
    print_json(json);
    return;
  }
  verb.say("");
  print("{}", scores_text(scores.all, model.info.value.unit));
  if (scores.groups.size() < 2) return;
  for (const auto& [name, its] : scores.groups) print("\n{}\n{}", name, scores_text(its, model.info.value.unit));
}

}  // namespace

void add_score(CLI::App& app) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = app.add_subcommand("score", "Score a model on observations it has not seen");
  verb->footer("Intervals are those of a new observation: the field's uncertainty and the noise together.");
  verb->add_option("MODEL", options->model, "Model written by drift fit")->type_name("");
  verb->add_option("FILES", options->files, "Observations: paths or globs, NetCDF or CSV")->type_name("");
  const auto table = [&](const char* name, auto& value, const char* help) {
    return verb->add_option(name, value, help)->type_name("")->group("Forecasts from a table");
  };
  table("--forecasts", options->forecasts, "Score this table of forecasts (CSV) in place of a model");
  table("--observed", options->observed, "Column of the table with the observed values [observed]");
  table("--mean", options->mean, "Column of the table with the forecasts [mean]");
  table("--sd", options->sd, "Column of the table with their standard deviations");
  table("--lower", options->lower, "Column of the table with the lower bound of an interval, in place of --sd");
  table("--upper", options->upper, "Column of the table with its upper bound");
  table("--level", options->level, "Nominal coverage of the interval [0.95]")->check(one_of_numbers({0.5, 0.8, 0.9, 0.95, 0.99}));
  verb->add_option("--by", options->by, "Also score each group: none, platform, day, region (boxes of 30 degrees) [platform]")
      ->type_name("")
      ->check(one_of_words<drift::ScoreGroups>());
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->add_flag("--json", options->json, "Print the scores as JSON")->group("Run");
  add_quiet(*verb, options->quiet, "the scores, ");
  verb->callback([options, flags] { run(*options, *flags); });
}
