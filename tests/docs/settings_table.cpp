#include "command/settings_table.h"

#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "command/options_table.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What `drift VERB --help` prints.
std::string help_of(const std::string& command, const std::string& verb) {
  FILE* pipe = popen(fmt::format("'{}' {} --help", command, verb).c_str(), "r");
  if (pipe == nullptr) throw drift::Error("cannot run " + command);
  std::string text;
  std::array<char, 4096> some = {};
  for (std::size_t n = 0; (n = std::fread(some.data(), 1, some.size(), pipe)) > 0;) text.append(some.data(), n);
  if (pclose(pipe) != 0) throw drift::Error(fmt::format("{} {} --help fails", command, verb));
  return text;
}

}  // namespace

// settings_table DRIFT DOCS: brings the tables of settings and options in the folder's pages up to date.
int main(int argc, char** argv) {
  try {
    if (argc != 3) throw drift::UsageError("usage: settings_table DRIFT DOCS");
    const std::filesystem::path docs = argv[2], settings = docs / "run-file.md";
    const std::string table = with_settings_table(read(settings));
    std::ofstream(settings, std::ios::binary) << table;
    for (const auto& entry : std::filesystem::directory_iterator(docs / "verbs")) {
      const std::string verb = entry.path().stem();
      std::string help = help_of(argv[1], verb);
      for (const std::string& own : subcommands_of(verb)) help += help_of(argv[1], own);
      const std::string page = with_options_table(read(entry.path()), help);
      std::ofstream(entry.path(), std::ios::binary) << page;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "settings_table: %s\n", error.what());
    return 1;
  }
}
