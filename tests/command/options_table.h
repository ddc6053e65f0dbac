#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "settings_table.h"

// The table of options in a verb's page, between the same two markers: what --help prints, settings aside where the page links to
// the table of all settings.

inline const std::vector<std::string>& subcommands_of(const std::string& verb) {
  static const std::vector<std::string> bench = {"bench train", "bench predict", "bench baselines"};
  static const std::vector<std::string> none;
  return verb == "bench" ? bench : none;
}

// `help`: of the verb and its own verbs, one after the other; an option that several have is listed once.
inline std::string options_table(const std::string& page, const std::string& help) {
  const bool links = page.find("../run-file.md#keys") != std::string::npos;
  const auto is_setting = [&](const std::string& name, const std::string& words) {
    const std::vector<drift::SettingInfo>& all = drift::setting_infos();
    return links && std::any_of(all.begin(), all.end(),
                                [&](const auto& info) { return info.flag == name && words.starts_with(info.help); });
  };
  std::set<std::string> seen = {"--help"};
  // "  --out FILE      The map", "  -h,--help       Print this ...", or the words on the next line.
  static const std::regex option(R"(\n  (?:-[a-z],)?(--[a-z][a-z-]*)([^\n]*?)(?:\n? {2,}([^ \n-][^\n]*))(?=\n))");
  std::string table = "| option | meaning |\n|---|---|\n";
  for (std::sregex_iterator i(help.begin(), help.end(), option), end; i != end; ++i) {
    const std::string name = (*i)[1], after = (*i)[2];
    if (is_setting(name, (*i)[3]) || !seen.insert(name).second) continue;
    std::string words;
    for (const char c : (*i)[3].str())
      words += c == '|' ? std::string("\\|") : c == '<' ? std::string("&lt;") : std::string(1, c);
    table += fmt::format("| `{}`{} | {} |\n", name, after.find("REQUIRED") != std::string::npos ? ", required" : "", words);
  }
  return table;
}

// The page with the table as it should be; a page without options has none.
inline std::string with_options_table(const std::string& page, const std::string& help) {
  return page.find(kTableBegins) == std::string::npos ? page : with_table(page, options_table(page, help));
}
