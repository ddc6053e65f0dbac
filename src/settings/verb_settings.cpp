#include "drift/verb_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "drift/error.h"

namespace drift {
namespace {

// Tables whose settings a verb takes ("" holds seed and threads), and single flags of others.
const std::map<std::string_view, std::vector<std::string_view>>& tables_of_verbs() {
  static const std::vector<std::string_view> of_a_fit = {"",      "data",  "domain",      "split", "fit",
                                                         "model", "train", "uncertainty", "tune",  "output"};
  static const std::map<std::string_view, std::vector<std::string_view>> tables = {
      {"read", {"data", "--threads", "--test", "--test-where"}},
      {"inspect", {"data", "--threads"}},
      {"fit", of_a_fit},
      {"tune", of_a_fit},
      {"compare", {"", "data", "domain", "split", "model", "train", "uncertainty", "compare"}},
      {"score", {"data", "--threads", "--backend", "--precision"}},
      {"demo", {"", "model", "train"}}};
  return tables;
}

}  // namespace

std::vector<SettingInfo> settings_of_verb(std::string_view verb) {
  const auto found = tables_of_verbs().find(verb);
  if (found == tables_of_verbs().end()) throw UsageError(fmt::format("'{}' is no verb that takes settings", verb));
  const auto takes = [&](const std::string& name) {
    return std::find(found->second.begin(), found->second.end(), name) != found->second.end();
  };
  std::vector<SettingInfo> all;
  for (const SettingInfo& info : setting_infos()) {
    if (!info.flag.empty() && (takes(info.table) || takes(info.flag))) all.push_back(info);
  }
  return all;
}

}  // namespace drift
