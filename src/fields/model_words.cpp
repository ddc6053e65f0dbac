#include "fields/model_words.h"

#include <fmt/format.h>

#include "drift/error.h"
#include "drift/interpolator.h"

namespace drift {
namespace {

constexpr const char* kNetworksPaper =
    "W. Chen, A. Mahmood, M. Tsamados, S. Takao, Deep random features for scalable interpolation of spatiotemporal data, "
    "ICLR 2025";

const MethodInfo& info_of(const std::string& method_text) {
  const std::string name = method_text.substr(0, method_text.find(':'));
  for (const MethodInfo& info : method_infos()) {
    if (info.name == name) return info;
  }
  throw Error(fmt::format("the model's method '{}' is not known", method_text));
}

// A draw of weights or of a dropout mask is a member.
std::string networks_text(const FieldModel& model) {
  const std::size_t members = model.ensemble.members.size();
  const char* networks = members == 1 ? "deep random-feature network" : "deep random-feature networks";
  const auto settings = settings_of(model);
  switch (settings ? settings->uncertainty.method : UncertaintyMethod::ensemble) {
    case UncertaintyMethod::variational:
      return fmt::format("{} draws from deep random-feature networks with variational weights", members);
    case UncertaintyMethod::dropout:
      return fmt::format("{} draws from deep random-feature networks with dropout", members);
    case UncertaintyMethod::last_layer:
      return fmt::format("{} {} with last-layer posteriors", members, networks);
    case UncertaintyMethod::ensemble:
      break;
  }
  return members == 1 ? fmt::format("a {}", networks) : fmt::format("an ensemble of {} {}", members, networks);
}

}  // namespace

std::optional<RunSettings> settings_of(const FieldModel& model) {
  if (model.settings.empty()) return std::nullopt;
  try {
    return run_settings_from_toml(model.settings, "settings");
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string parts_text(const FieldModel& model) {
  if (model.method) {
    const MethodInfo& info = info_of(model.method_text);
    return fmt::format("{} ({}): {}", info.title, model.method_text, info.summary);
  }
  if (!model.process) return networks_text(model);
  const std::string process = "kriging in a moving frame";
  return model.ensemble.members.empty() ? process : networks_text(model) + " and " + process;
}

std::string references_of(const FieldModel& model) {
  if (model.method) return info_of(model.method_text).source;
  return model.ensemble.members.empty() ? std::string() : kNetworksPaper;
}

}  // namespace drift
