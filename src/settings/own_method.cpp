#include "settings/own_method.h"

#include <algorithm>
#include <map>
#include <string>

#include "settings/setting_list.h"
#include "settings/setting_text.h"

namespace drift {
namespace {

std::string options_text(const FitChoice& choice) {
  const std::string text = text_of(choice);
  return text.size() > choice.name.size() ? text.substr(choice.name.size() + 1) : std::string();
}

// By key, as an option's text; of members and of [train].
std::map<std::string, std::string> training_texts(const RunSettings& settings) {
  std::map<std::string, std::string> texts;
  visit_settings(settings, [&](const std::string& table, const std::string& key, const auto& field, const SettingRule&) {
    if (table != "train" && !(table == "model" && key == "members")) return;
    std::string text = TomlText()(field);
    std::erase(text, '"');
    texts[key] = text;
  });
  return texts;
}

}  // namespace

MethodInfo drift_method_info() {
  return {.name = kOwnMethod,
          .title = "drift",
          .summary = "the model of drift fit: deep random-feature networks and kriging in a moving frame",
          .source = "Chen et al. 2025",
          .options = {{"parts", "blend, network or process", "the run's"},
                      {"members", "networks in the ensemble, 1 to 1000", "the run's"},
                      {"epochs", "times each observation is seen", "the run's"},
                      {"trials", "trials of a search for settings before the fit; its time counts", "0"},
                      {"uncertainty", "ensemble, variational, dropout or last_layer", "the run's"}}};
}

RunSettings own_settings(const MethodSettings& method, RunSettings settings) {
  if (method.has("members")) settings.model.members = method.count("members", 1, 1, 1000);
  if (const auto epochs = method.number("epochs", 1e-3, 1e6)) settings.train.epochs = *epochs;
  if (settings.fit.method && settings.fit.method->parts == FitMethod::other) settings.fit.method.reset();
  if (method.has("parts")) settings.fit.method = method.word<FitMethod>("parts", FitMethod::blend);
  settings.uncertainty.method = method.word("uncertainty", settings.uncertainty.method);
  if (method.has("trials")) {
    const std::size_t trials = method.count("trials", 0, 0, 100000);
    settings.tune.method = trials > 0 ? TuneMethod::bayes : TuneMethod::none;
    settings.tune.trials = std::max<std::size_t>(1, trials);
  }
  return settings;
}

RunSettings spelled_out(RunSettings settings) {
  if (!settings.fit.method || settings.fit.method->parts != FitMethod::other) return settings;
  FitChoice choice = *settings.fit.method;
  if (choice.name == kOwnMethod)
    return own_settings(MethodSettings(drift_method_info(), options_text(choice)), std::move(settings));
  const std::map<std::string, std::string> usual = training_texts(RunSettings());
  std::map<std::string, std::string> given = training_texts(settings);
  std::erase_if(given, [&](const auto& entry) { return entry.second == usual.at(entry.first); });
  for (const auto& [name, value] : choice.options) given.erase(name);
  for (const MethodInfo& method : method_infos()) {
    for (const MethodOption& option : method.options) {
      const auto found = given.find(option.name);
      if (method.name == choice.name && found != given.end()) choice.options.emplace_back(found->first, found->second);
    }
  }
  settings.fit.method = fit_choice(text_of(choice));  // in the method's ranges
  return settings;
}

}  // namespace drift
