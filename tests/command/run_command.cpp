#include "run_command.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "drift-command-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder could be made");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

FinishedRun run_shell(const std::filesystem::path& folder, const std::string& line) {
  const TemporaryFolder output;
  const std::string out = (output.path() / "out").string(), err = (output.path() / "err").string();
  const std::string script = (output.path() / "script").string();
  std::ofstream(script) << fmt::format("cd '{}' || exit 99\ndrift() {{ '{}' \"$@\"; }}\nexport -f drift\n{}\n", folder.string(),
                                       DRIFT_COMMAND, line);
  const int result = std::system(fmt::format("/bin/bash '{}' >'{}' 2>'{}'", script, out, err).c_str());
  return {WIFEXITED(result) ? WEXITSTATUS(result) : -1, read_file(out), read_file(err)};
}

FinishedRun run_command(const std::string& arguments) {
  const TemporaryFolder folder;
  return run_shell(folder.path(), "drift " + arguments);
}

std::string python_with_xarray() {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    if (std::system(fmt::format("{} -c 'import xarray, netCDF4' >/dev/null 2>&1", python).c_str()) == 0) return python;
  }
  return "";
}
