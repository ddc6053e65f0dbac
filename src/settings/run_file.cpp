// Run files: TOML, strict. Every message begins with file:line.

#include <fmt/format.h>
// A table "[&]" reaches an assertion of the library's before the error that it throws: a user's text must not.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <type_traits>

#include "core/whole_file.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/truth.h"
#include "netcdf/file_kind.h"
#include "settings/setting_list.h"
#include "settings/setting_text.h"
#include "settings/toml_bounds.h"

namespace drift {
namespace {

const char* what_it_is(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date";
  }
}

class RunFile {
 public:
  RunFile(const std::string& text, std::string name) : name_(std::move(name)) {
    check_toml_bounds(text, name_);
    try {
      root_ = toml::parse(text, name_);
    } catch (const toml::parse_error& error) {
      throw UsageError(fmt::format("{}:{}: not TOML: {}", name_, error.source().begin.line, error.description()));
    }
  }

  RunSettings settings() const {
    RunSettings settings;
    check_names();
    visit_settings(settings, [&](const char* table, const char* key, auto& field, const SettingRule& rule) {
      const toml::node* node = *table == '\0'                    ? root_.get(key)
                               : root_.at_path(table).as_table() ? root_.at_path(table).as_table()->get(key)
                                                                 : nullptr;
      if (node != nullptr) read(*node, key, rule, field);
    });
    return settings;
  }

 private:
  // Every key and table must be known.
  void check_names() const {
    std::vector<std::string_view> top, tables;
    for (const SettingInfo& info : setting_infos()) {
      if (info.table.empty())
        top.push_back(info.key);
      else if (tables.empty() || tables.back() != info.table)
        tables.push_back(info.table);
    }
    for (const auto& [key, node] : root_) {
      const bool is_table = node.is_table();
      const std::vector<std::string_view>& known = is_table ? tables : top;
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fail_unknown(node, is_table ? "table" : "key", key.str(), known);
      if (is_table) check_table(std::string(key.str()), *node.as_table());
    }
  }

  void check_table(const std::string& table, const toml::table& node) const {
    std::vector<std::string_view> known;
    for (const SettingInfo& info : setting_infos()) {
      if (info.table == table) known.push_back(info.key);
    }
    for (const auto& [key, value] : node) {
      if (table == "tune" && key.str() == "halving") {
        fail(value, "drift no longer has successive halving, which found worse settings than full trials; remove the key");
      }
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail_unknown(value, fmt::format("key in [{}]:", table).c_str(), key.str(), known);
      }
    }
  }

  [[noreturn]] void fail(const toml::node& node, const std::string& why) const {
    throw UsageError(fmt::format("{}:{}: {}", name_, node.source().begin.line, why));
  }
  [[noreturn]] void fail_unknown(const toml::node& node, const char* what, std::string_view name,
                                 const std::vector<std::string_view>& known) const {
    fail(node, fmt::format("unknown {} '{}'{}", what, name, did_you_mean(name, known)));
  }
  [[noreturn]] void fail_type(const toml::node& node, const char* key, const char* wanted) const {
    fail(node, fmt::format("{} must be {} but is {}", key, wanted, what_it_is(node)));
  }

  double number(const toml::node& node, const char* key, const SettingRule& rule, bool whole) const {
    if (!node.is_number()) fail_type(node, key, whole ? "a whole number" : "a number");
    const double value = *node.value<double>();
    if (const std::string why = misfit(rule, value, whole); !why.empty())
      fail(node, fmt::format("{} is {:g}; it {}", key, value, why));
    return value;
  }

  std::vector<double> numbers(const toml::node& node, const char* key, std::size_t count, const char* wanted) const {
    const toml::array* const array = node.as_array();
    if (array == nullptr || array->size() != count) fail_type(node, key, wanted);
    std::vector<double> values;
    for (const toml::node& entry : *array) values.push_back(number(entry, key, {}, false));
    return values;
  }

  void read(const toml::node& node, const char* key, const SettingRule& rule, std::string& field) const {
    if (!node.is_string()) fail_type(node, key, "a text in quotes");
    field = *node.value<std::string>();
    if (const std::string why = misread(rule, field); !why.empty()) fail(node, fmt::format("{}: {}", key, why));
  }
  template <FieldOfWords Field>
  void read(const toml::node& node, const char* key, const SettingRule& rule, Field& field) const {
    std::string word;
    read(node, key, rule, word);
    if (!set_from_word(field, word))
      fail(node, fmt::format("{} is \"{}\"; it {}", key, word, must_be_one_of(word, Words<Field>::all())));
  }
  template <class Entry>
  void read(const toml::node& node, const char* key, const SettingRule& rule, std::vector<Entry>& field) const {
    field.clear();
    if (node.is_string()) {
      read(node, key, rule, field.emplace_back());
      return;
    }
    if (!node.is_array()) fail_type(node, key, "a text or an array of texts");
    for (const toml::node& entry : *node.as_array()) read(entry, key, rule, field.emplace_back());
  }
  void read(const toml::node& node, const char* key, const SettingRule& rule, std::optional<FitChoice>& field) const {
    std::string text;
    read(node, key, rule, text);
    try {
      field = text == kAuto ? std::nullopt : std::optional(fit_choice(text));
    } catch (const UsageError& error) {
      fail(node, error.what());
    }
  }
  void read(const toml::node& node, const char* key, const SettingRule&, bool& field) const {
    if (!node.is_boolean()) fail_type(node, key, "true or false");
    field = *node.value<bool>();
  }
  void read(const toml::node& node, const char* key, const SettingRule&, std::optional<Range>& field) const {
    const std::vector<double> ends = numbers(node, key, 2, "two numbers, [low, high]");
    if (ends[0] > ends[1])
      fail(node, fmt::format("{} runs from {:g} down to {:g}; the lower end comes first", key, ends[0], ends[1]));
    field = Range{ends[0], ends[1]};
  }
  void read(const toml::node& node, const char* key, const SettingRule&, std::optional<std::array<double, 4>>& field) const {
    const std::vector<double> box = numbers(node, key, 4, "four numbers, [lon0, lat0, lon1, lat1]");
    field = {box[0], box[1], box[2], box[3]};
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void read(const toml::node& node, const char* key, const SettingRule& rule, Number& field) const {
    field = static_cast<Number>(number(node, key, rule, std::is_integral_v<Number>));
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void read(const toml::node& node, const char* key, const SettingRule& rule, std::optional<Number>& field) const {
    read(node, key, rule, field.emplace());
  }

  std::string name_;
  toml::table root_;
};

// Run files come from others, and none makes drift connect to a server.
void check_is_local(const std::string& path, const std::filesystem::path& run_file) {
  if (!is_remote(path.starts_with("file:") ? path.substr(5) : path)) return;
  throw UsageError(
      fmt::format("{}: {}: a run file may not name an address; drift connects only to servers named on the command line",
                  run_file.string(), path));
}

void anchor(std::string& path, const std::filesystem::path& folder) {
  if (!path.empty() && std::filesystem::path(path).is_relative()) path = (folder / path).lexically_normal().string();
}

}  // namespace

std::string TomlText::operator()(const std::string& value) const {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      text += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      text += c;
  }
  return text + "\"";
}

RunSettings run_settings_from_toml(const std::string& text, const std::string& name) { return RunFile(text, name).settings(); }

RunSettings read_run_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found && ignored.value() != ENOTDIR)
    throw Error(fmt::format("{}: no such run file", path.string()));
  RunSettings settings = run_settings_from_toml(read_bounded_file(path, "a run file", kMostTomlBytes), path.string());
  for (const std::string& pattern : settings.data.files) check_is_local(pattern, path);
  for (const std::string& pattern : settings.split.test) check_is_local(pattern, path);
  for (const std::string* text : {&settings.compare.grid, &settings.compare.truth}) check_is_local(*text, path);
  const std::filesystem::path folder = path.parent_path();
  for (std::string& pattern : settings.data.files) anchor(pattern, folder);
  for (std::string& pattern : settings.split.test) anchor(pattern, folder);
  anchor(settings.output.model, folder);
  anchor(settings.compare.folder, folder);
  if (settings.compare.grid.ends_with(".nc") && !settings.compare.grid.starts_with("file:"))
    anchor(settings.compare.grid, folder);
  if (names_truth_file(settings.compare.truth)) anchor(settings.compare.truth, folder);
  check_distinct({{"the run file", path}}, run_outputs(settings));
  return settings;
}

std::string to_toml(const RunSettings& settings) {
  const RunSettings untouched;
  std::vector<std::string> defaults;
  visit_settings(untouched,
                 [&](const char*, const char*, const auto& field, const SettingRule&) { defaults.push_back(TomlText()(field)); });
  std::string text, table;
  std::size_t index = 0;
  visit_settings(settings, [&](const char* here, const char* key, const auto& field, const SettingRule&) {
    const std::string value = TomlText()(field);
    const bool is_default = value == defaults[index++];
    if (value.empty() || is_default) return;
    if (table != here) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", here);
    table = here;
    text += fmt::format("{} = {}\n", key, value);
  });
  return text;
}

}  // namespace drift
