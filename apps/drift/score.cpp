#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "run_options.h"
#include "scores_text.h"

namespace {

struct ScoreOptions {
  std::string model;
  std::vector<std::string> files;
  std::string by = "platform";
  bool json = false, quiet = false;
};

drift::ScoreGroups groups_of(const std::string& by) {
  if (by == "none") return drift::ScoreGroups::none;
  if (by == "platform") return drift::ScoreGroups::platform;
  return by == "day" ? drift::ScoreGroups::day : drift::ScoreGroups::region;
}

void run(const ScoreOptions& options, const RunOptions& flags) {
  const drift::FieldModel model = drift::load_field_model(options.model);
  // Files are read as those were that trained, but for the limits of space and time.
  drift::RunSettings settings = drift::run_settings_from_toml(model.settings, options.model + " (settings)");
  settings.data.box = {};
  settings.data.from = settings.data.to = "";
  flags.apply(settings);
  const drift::Reading reading = drift::read_observations(options.files, drift::read_options(settings));
  const auto engine = drift::make_cpu_engine({.threads = settings.threads});
  if (reading.report.value.unit != model.info.value.unit && !reading.report.value.unit.empty() &&
      !model.info.value.unit.empty()) {
    throw drift::UsageError(
        fmt::format("the model's values are in {}, those of the files in {}", model.info.value.unit, reading.report.value.unit));
  }
  const drift::ModelScores scores = drift::score_model(*engine, model, reading.observations, groups_of(options.by));
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(drift::to_json(scores.all));
    for (const auto& [name, its] : scores.groups) json["groups"][name] = nlohmann::ordered_json::parse(drift::to_json(its));
    fmt::print("{}\n", json.dump(2));
    return;
  }
  if (!options.quiet) fmt::print("{}\n\n", reading_text(reading));
  fmt::print("{}", scores_text(scores.all, model.info.value.unit));
  if (scores.groups.size() < 2) return;
  for (const auto& [name, its] : scores.groups) fmt::print("\n{}\n{}", name, scores_text(its, model.info.value.unit));
}

}  // namespace

void add_score(CLI::App& app) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = app.add_subcommand("score", "Score a model on observations it has not seen");
  verb->footer("Intervals are those of a new observation: the field's uncertainty and the noise together.");
  verb->add_option("MODEL", options->model, "A model of drift fit")->type_name("")->required();
  verb->add_option("FILES", options->files, "Observations: paths or globs, NetCDF or CSV")->type_name("")->required();
  verb->add_option("--by", options->by,
                   "Score groups by themselves too: none, platform, day, region (boxes of 30 degrees) [platform]")
      ->type_name("")
      ->check(CLI::IsMember({"none", "platform", "day", "region"}).description(""));
  auto flags = std::make_shared<RunOptions>(*verb, std::vector<std::string>{"data", "--threads"});
  verb->add_flag("--json", options->json, "Print the scores as JSON")->group("Run");
  verb->add_flag("--quiet", options->quiet, "Print the scores only")->group("Run");
  verb->callback([options, flags] { run(*options, *flags); });
}
