#include "tune/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "core/atomic_file.h"
#include "core/json_fields.h"
#include "core/parse_json.h"
#include "core/whole_file.h"
#include "drift/error.h"

namespace drift {

// The study as a file: JSON, a trial a line, points by the names of their settings.
//   {"format": "drift study", "version": 1, "plan": {...}, "space": [{...}, ...], "trials": [{...}, ...]}
// The values and keys never change their meaning; a new version may add some.

// The part that JsonReader reads; lists of words and points are read beside it.
template <class Self>
requires ConstOrNot<Self, Setting>
void visit_fields(Self& self, auto&& field) {
  field("name", self.name);
  field("kind", self.kind);
  field("low", self.low);
  field("high", self.high);
}

template <class Self>
requires ConstOrNot<Self, SearchPlan>
void visit_fields(Self& self, auto&& field) {
  field("seed", self.seed);
  field("initial", self.initial);
  field("parallel", self.parallel);
}

template <class Self>
requires ConstOrNot<Self, Trial>
void visit_fields(Self& self, auto&& field) {
  field("number", self.number);
  field("state", self.state);
  field("value", self.value);
  field("seed", self.seed);
  field("seconds", self.seconds);
  field("message", self.message);
}

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "drift study";
constexpr int kVersion = 1;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

OrderedJson point_json(const SearchSpace& space, const Point& point) {
  OrderedJson json = OrderedJson::object();
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].kind == SettingKind::choice) {
      json[space[i].name] = space[i].words.at(static_cast<std::size_t>(point[i]));
    } else {
      json[space[i].name] = point[i];
    }
  }
  return json;
}

std::string line(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

std::string lines(const std::vector<OrderedJson>& entries) {
  std::vector<std::string> texts;
  texts.reserve(entries.size());
  for (const OrderedJson& entry : entries) texts.push_back("    " + line(entry));
  return fmt::format("[{}{}{}]", texts.empty() ? "" : "\n", fmt::join(texts, ",\n"), texts.empty() ? "" : "\n  ");
}

std::string study_text(const Study& study) {
  OrderedJson plan = write_json(study.plan);
  if (study.plan.rounds) plan["rounds"] = true;  // studies from before there were rounds have no such key
  if (!study.plan.fingerprint.empty()) plan["fingerprint"] = study.plan.fingerprint;  // nor this one
  plan["first"] = OrderedJson::array();
  for (const Point& point : study.plan.first) plan["first"].push_back(point_json(study.space, point));
  std::vector<OrderedJson> settings;
  for (const Setting& setting : study.space) {
    settings.push_back(write_json(setting));
    settings.back()["words"] = setting.words;
  }
  std::vector<OrderedJson> trials;
  for (const Trial& trial : study.trials) {
    trials.push_back(write_json(trial));
    trials.back()["point"] = point_json(study.space, trial.point);
  }
  return fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"plan\": {},\n  \"space\": {},\n  \"trials\": {}\n}}\n",
                     kFormat, kVersion, line(plan), lines(settings), lines(trials));
}

// Reads one file; every refusal names it.
class StudyReader {
 public:
  explicit StudyReader(std::string path) : path_(std::move(path)) {}

  Study read(const std::string& text) const {
    const Json json = parse_json(text, path_ + ": cannot be read as a study");
    if (!json.is_object()) refuse("it is not a JSON object");
    if (!json.contains("format") || json["format"] != kFormat) refuse("it is not a drift study");
    if (!json.contains("version") || json["version"] != kVersion) {
      refuse(fmt::format("this drift reads version {} of studies, and the file is of another", kVersion));
    }
    check_keys(json, "the study", {"format", "version", "plan", "space", "trials"});
    Study study;
    for (const Json& entry : list(json, "space")) study.space.push_back(setting(entry, study.space.size()));
    check([&] { check_space(study.space); });
    study.plan = plan(json["plan"], study.space);
    for (const Json& entry : list(json, "trials")) study.trials.push_back(trial(entry, study.space, study.trials));
    const std::size_t initial = study.plan.initial;
    check([&] { make_study(study.space, study.plan); });
    if (initial == 0) refuse("its plan has no initial trials");
    return study;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("{}: cannot be read as a study: {}", path_, why));
  }

  void check(const auto& work) const {
    try {
      work();
    } catch (const UsageError& error) {
      refuse(error.what());
    }
  }

  void check_keys(const Json& json, const std::string& where, std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      if (!json.contains(key)) refuse(fmt::format("{} has no \"{}\"", where, key));
    }
    for (const auto& [key, value] : json.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        refuse(fmt::format("{} has an unknown key \"{}\"", where, key.substr(0, 80)));
      }
    }
  }

  const Json& list(const Json& json, const char* key) const {
    const Json& entries = json[key];
    if (!entries.is_array()) refuse(fmt::format("\"{}\" is not a list", key));
    return entries;
  }

  // All of T but the one key that is read beside it.
  template <class T>
  T fields(Json json, const std::string& where, const char* beside) const {
    if (!json.is_object()) refuse(where + " is not an object");
    if (!json.contains(beside)) refuse(fmt::format("{} has no \"{}\"", where, beside));
    json.erase(beside);
    return JsonReader(fmt::format("{}: cannot be read as a study: {}", path_, where))
        .parse<T>(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  Setting setting(const Json& json, std::size_t index) const {
    const std::string where = fmt::format("setting {}", index);
    Setting read = fields<Setting>(json, where, "words");
    if (!json["words"].is_array()) refuse(where + ": \"words\" is not a list");
    for (const Json& word : json["words"]) {
      if (!word.is_string()) refuse(where + ": a word is not text");
      read.words.push_back(word.get<std::string>());
    }
    return read;
  }

  Point point(const Json& json, const SearchSpace& space, const std::string& where) const {
    if (!json.is_object() || json.size() != space.size()) refuse(where + ": its point does not have one value a setting");
    Point read;
    for (const Setting& setting : space) {
      if (!json.contains(setting.name)) refuse(fmt::format("{}: its point has no \"{}\"", where, setting.name));
      read.push_back(value(json[setting.name], setting, where));
    }
    check([&] { check_point(space, read); });
    return read;
  }

  double value(const Json& json, const Setting& setting, const std::string& where) const {
    if (setting.kind != SettingKind::choice) {
      if (!json.is_number()) refuse(fmt::format("{}: \"{}\" is not a number", where, setting.name));
      return json.get<double>();
    }
    const auto found =
        json.is_string() ? std::find(setting.words.begin(), setting.words.end(), json.get<std::string>()) : setting.words.end();
    if (found == setting.words.end()) refuse(fmt::format("{}: \"{}\" is not one of its words", where, setting.name));
    return static_cast<double>(found - setting.words.begin());
  }

  // Written by versions that had successive halving; studies without it have this value alone.
  void drop_full_share(Json& json, const char* key, const Json& full) const {
    if (!json.is_object() || !json.contains(key)) return;
    if (json[key] != full) refuse("its trials went by successive halving, which drift no longer has; begin a new study");
    json.erase(key);
  }

  SearchPlan plan(Json json, const SearchSpace& space) const {
    const Json whole = json;
    const bool has_rounds = json.is_object() && json.contains("rounds");
    if (has_rounds && !json["rounds"].is_boolean()) refuse("the plan's \"rounds\" is neither true nor false");
    if (has_rounds) json.erase("rounds");
    const bool has_fingerprint = json.is_object() && json.contains("fingerprint");
    if (has_fingerprint && !json["fingerprint"].is_string()) refuse("the plan's \"fingerprint\" is not text");
    if (has_fingerprint) json.erase("fingerprint");
    drop_full_share(json, "shares", Json::array({1.0}));
    SearchPlan read = fields<SearchPlan>(std::move(json), "the plan", "first");
    if (has_rounds) read.rounds = whole["rounds"].get<bool>();
    if (has_fingerprint) read.fingerprint = whole["fingerprint"].get<std::string>();
    for (const Json& entry : list(whole, "first")) read.first.push_back(point(entry, space, "the plan"));
    return read;
  }

  Trial trial(Json json, const SearchSpace& space, const std::vector<Trial>& before) const {
    const std::string where = fmt::format("entry {} of the trials", before.size());
    drop_full_share(json, "budget_share", 1.0);
    Trial read = fields<Trial>(json, where, "point");
    read.point = point(json["point"], space, where);
    if (!before.empty() && read.number <= before.back().number) refuse(where + ": its number does not ascend");
    if (read.number > std::size_t{1} << 31U) refuse(where + ": its number is too large");
    if (read.value.has_value() != (read.state == TrialState::done) && read.state != TrialState::pruned) {
      refuse(where + ": done trials have a value, failed ones have none");
    }
    if (read.value && !(std::abs(*read.value) <= kLargestValue)) refuse(where + ": its value is too large");
    if (!(read.seconds >= 0.0)) refuse(where + ": its seconds are negative");
    return read;
  }

  std::string path_;
};

bool same_setting(const Setting& a, const Setting& b) {
  const bool same_range = a.kind == SettingKind::choice || (a.low == b.low && a.high == b.high);
  return a.name == b.name && a.kind == b.kind && same_range && a.words == b.words;
}

}  // namespace

void save_study(const Study& study, const std::filesystem::path& path) {
  const std::string text = study_text(study);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

Study load_study(const std::filesystem::path& path) {
  return StudyReader(path.string()).read(read_bounded_file(path, "a study", kMaxBytes));
}

void check_same_search(const Study& saved, const Study& wanted, const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& what) {
    throw UsageError(
        fmt::format("{}: this study has {} than this search; name another file to start a new one, or keep its settings",
                    path.string(), what));
  };
  if (saved.space.size() != wanted.space.size()) refuse("other settings");
  for (std::size_t i = 0; i < saved.space.size(); ++i) {
    if (!same_setting(saved.space[i], wanted.space[i])) refuse(fmt::format("another setting \"{}\"", saved.space[i].name));
  }
  if (saved.plan.seed != wanted.plan.seed) refuse(fmt::format("another seed ({})", saved.plan.seed));
  if (saved.plan.initial != wanted.plan.initial) refuse(fmt::format("another number of initial trials ({})", saved.plan.initial));
  if (saved.plan.parallel != wanted.plan.parallel) {
    refuse(fmt::format("another number of trials side by side ({})", saved.plan.parallel));
  }
  if (saved.plan.rounds != wanted.plan.rounds) {
    refuse(saved.plan.rounds ? "trials in rounds, other" : "trials that do not go in rounds, other");
  }
  if (saved.plan.first != wanted.plan.first) refuse("other first points");
  // Studies from before there were fingerprints are taken at their word.
  if (!saved.plan.fingerprint.empty() && saved.plan.fingerprint != wanted.plan.fingerprint) {
    refuse("trials on other observations or with other settings");
  }
}

}  // namespace drift
