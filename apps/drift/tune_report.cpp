#include "tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "progress.h"

std::string trial_line(const drift::Study& study, const drift::Trial& trial) {
  if (trial.state == drift::TrialState::failed) {
    return fmt::format("{:>4}  failed: {}; {}", trial.number, trial.message, drift::describe(study.space, trial.point));
  }
  const auto best = drift::best_trial(study);
  const char* const mark = best && study.trials[*best].number == trial.number ? "  (best so far)" : "";
  return fmt::format("{:>4}  {:<10.5g} {:>6}  {}{}", trial.number, trial.value.value_or(std::nan("")), clock_text(trial.seconds),
                     drift::describe(study.space, trial.point), mark);
}

std::string study_text(const drift::Study& study) {
  std::string text = fmt::format("{} trials\n", study.trials.size());
  for (const drift::Trial& trial : study.trials) text += trial_line(study, trial) + "\n";
  if (const auto best = drift::best_trial(study)) {
    text += fmt::format("\nBest: trial {}, {:.5g}: {}\n", study.trials[*best].number, *study.trials[*best].value,
                        drift::describe(study.space, study.trials[*best].point));
  }
  const std::vector<drift::Importance> importances = drift::importance(study);
  if (!importances.empty()) text += "Share of the variation explained\n";
  for (const drift::Importance& setting : importances) {
    text += fmt::format("  {:24} {:3.0f} % alone, {:3.0f} % with interactions\n", setting.name, 100.0 * setting.main,
                        100.0 * setting.total);
  }
  return text;
}

std::string study_json(const drift::Study& study) {
  nlohmann::ordered_json json;
  json["trials"] = nlohmann::ordered_json::array();
  for (const drift::Trial& trial : study.trials) {
    nlohmann::ordered_json one = {{"number", trial.number}, {"state", drift::word_of(trial.state)}, {"seconds", trial.seconds}};
    one["value"] = trial.value ? nlohmann::ordered_json(*trial.value) : nlohmann::ordered_json(nullptr);
    for (std::size_t i = 0; i < study.space.size(); ++i) one["settings"][study.space[i].name] = trial.point[i];
    if (const auto parts = drift::trial_parts(trial))
      one["parts"] = {{"score", parts->score}, {"roughness", parts->roughness}, {"check", parts->check}};
    else
      one["message"] = trial.message;
    json["trials"].push_back(one);
  }
  const auto best = drift::best_trial(study);
  json["best"] = best ? nlohmann::ordered_json(study.trials[*best].number) : nlohmann::ordered_json(nullptr);
  for (const drift::Importance& setting : drift::importance(study))
    json["importance"][setting.name] = {{"main", setting.main}, {"total", setting.total}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<double> progress_of(const drift::Study& study) {
  std::vector<double> progress;
  for (const std::optional<double>& value : drift::best_so_far(study)) progress.push_back(value.value_or(std::nan("")));
  return progress;
}
