// Shell completion, made from the command line's own description, so that it never lags behind.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "commands.h"
#include "print.h"

namespace {

// Words that may follow a verb: its own verbs, then its options.
std::vector<std::string> words_after(const CLI::App& verb) {
  std::vector<std::string> words;
  for (const CLI::App* below : verb.get_subcommands({})) words.push_back(below->get_name());
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_group().empty()) continue;  // not for people
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

void add_cases(const CLI::App& verb, const std::string& path, std::string& script) {
  script += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(words_after(verb), " "));
  for (const CLI::App* below : verb.get_subcommands({}))
    add_cases(*below, path.empty() ? below->get_name() : path + " " + below->get_name(), script);
}

// The verbs typed so far pick the words; where none fits, file names are offered.
std::string bash_script(const CLI::App& app) {
  std::string cases;
  add_cases(app, "", cases);
  return "# bash completion for drift. Load it with: source <(drift completion bash)\n"
         "_drift() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} path='' words='' word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in -*) break ;; esac\n"
         "    case \"$path${path:+ }$word\" in\n"
         "      " +
         [&] {
           std::vector<std::string> paths;
           for (const CLI::App* verb : app.get_subcommands({})) {
             paths.push_back("'" + verb->get_name() + "'");
             for (const CLI::App* below : verb->get_subcommands({}))
               paths.push_back("'" + verb->get_name() + " " + below->get_name() + "'");
           }
           return fmt::format("{}", fmt::join(paths, " | "));
         }() +
         ") path=\"$path${path:+ }$word\" ;;\n"
         "      *) break ;;\n"
         "    esac\n"
         "  done\n"
         "  case $path in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  case $current in\n"
         "    -*) ;;\n"
         "    *) [[ -n $path && $words != [a-z]* ]] && words='' ;;\n"
         "  esac\n"
         "  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _drift drift\n";
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("completion", "Print a shell completion script");
  verb->footer(
      "Bash, for this shell: source <(drift completion bash)\nFor every new shell: drift completion bash > "
      "~/.local/share/bash-completion/completions/drift");
  verb->require_subcommand(1);
  verb->add_subcommand("bash", "For bash")->callback([&app] { print("{}", bash_script(app)); });
}
