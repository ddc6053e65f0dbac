#include "run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "drift/grouped.h"
#include "drift/verb_settings.h"

struct RunOptions::Given {
  std::string flag, table;
  std::vector<std::string> texts;
  CLI::Option* option = nullptr;
};

namespace {

std::string group_of(const std::string& table) {
  if (table.empty()) return "Run";
  std::string name = table;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

}  // namespace

RunOptions::RunOptions(CLI::App& verb) {
  for (const drift::SettingInfo& info : drift::settings_of_verb(verb.get_name())) {
    auto given = std::make_shared<Given>();
    given->flag = info.flag;
    given->table = info.table;
    const std::string help = info.fallback.empty() ? info.help : fmt::format("{} [{}]", info.help, info.fallback);
    if (info.is_switch) {
      given->option = verb.add_flag(info.flag, help);
    } else {
      // One value per flag, so that inputs may follow it; but a shell expands a pattern to several files, and those after the
      // first must not end up among the inputs.
      given->option = verb.add_option(info.flag, given->texts, help)->type_name("");
      if (info.lists_files)
        given->option->expected(-1);
      else
        given->option->expected(1)->allow_extra_args(false);
      if (info.repeats)
        given->option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      else
        given->option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    given->option->group(group_of(info.table));
    given_.push_back(std::move(given));
  }
}

bool is_run_file(const std::vector<std::string>& inputs) { return inputs.size() == 1 && inputs[0].ends_with(".toml"); }

drift::NamedPaths input_paths(const std::vector<std::string>& inputs, const drift::RunSettings& settings) {
  drift::NamedPaths paths = drift::run_inputs(settings);
  if (is_run_file(inputs)) paths.push_back({"the run file", inputs[0]});
  return paths;
}

drift::RunSettings RunOptions::settings(const std::vector<std::string>& inputs) const {
  drift::RunSettings settings;
  if (is_run_file(inputs))
    settings = drift::read_run_file(inputs[0]);
  else
    settings.data.files = inputs;
  apply(settings);
  return settings;
}

void RunOptions::apply(drift::RunSettings& settings) const {
  for (const auto& given : given_) {
    if (given->option->count() > 0) drift::set_from_flag(settings, given->flag, given->texts, given->table);
  }
}

std::string unit_text(const std::string& name, const std::string& unit, const char* open, const char* close) {
  const bool in_name = name.ends_with("[" + unit + "]") || name.ends_with("(" + unit + ")");
  return unit.empty() || in_name ? std::string() : open + unit + close;
}

std::string quality_text(const drift::ReadReport& report) {
  if (report.quality.empty()) return {};
  const std::string conditions = fmt::format("quality control: {}", fmt::join(report.quality, ", "));
  if (report.quality_left_out == 0) return conditions + " (all observations pass)";
  return fmt::format("{} ({} observation{} left out; --no-quality-control keeps {})", conditions,
                     drift::grouped(static_cast<double>(report.quality_left_out)), report.quality_left_out == 1 ? "" : "s",
                     report.quality_left_out == 1 ? "it" : "them");
}

std::string reading_text(const drift::Reading& reading) {
  const drift::ReadReport& report = reading.report;
  const std::size_t kept = reading.observations.size();
  const std::string& name = reading.value.name.empty() ? report.roles.value : reading.value.name;
  std::string text = fmt::format("Read {} observations of {}{} from {} {} file{}", drift::grouped(static_cast<double>(kept)),
                                 name, reading.value.unit == "1" ? "" : unit_text(name, reading.value.unit, " (", ")"),
                                 report.files.size(), report.format, report.files.size() == 1 ? "" : "s");
  if (reading.tracks > 0) text += fmt::format(", {} tracks", drift::grouped(static_cast<double>(reading.tracks)));
  text += ".";
  if (const std::string quality = quality_text(report); !quality.empty()) text += "\n  " + quality;
  for (const drift::Rejected& rejected : report.rejected) {
    if (rejected.reason.starts_with("quality control")) continue;  // those were counted above
    text += fmt::format("\n  left out: {} ({})", drift::grouped(static_cast<double>(rejected.count)), rejected.reason);
  }
  return text;
}
