#include "output/gmt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>
#include <system_error>

#include "drift/error.h"

namespace drift {
namespace {

// The user's environment, but for what would lead GMT to the user's own settings and sessions. HOME is among it: GMT reads
// ~/gmt.conf. Numbers are to be written with a point whatever the language.
std::vector<std::string> make_environment(const std::filesystem::path& folder) {
  const std::vector<std::string> replaced = {
      "HOME=",         "TMPDIR=",           "LC_ALL=",       "GMT_USERDIR=",    "GMT_TMPDIR=",
      "GMT_CACHEDIR=", "GMT_SESSION_NAME=", "GMT_END_SHOW=", "GMT_DATA_SERVER="};
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool keep = true;
    for (const std::string& name : replaced) keep = keep && !text.starts_with(name);
    if (keep) environment.push_back(text);
  }
  for (const char* name : {"HOME", "TMPDIR", "GMT_USERDIR", "GMT_TMPDIR", "GMT_CACHEDIR"}) {
    environment.push_back(fmt::format("{}={}", name, folder.string()));
  }
  environment.insert(environment.end(), {"LC_ALL=C", "GMT_SESSION_NAME=drift", "GMT_END_SHOW=off"});
  return environment;
}

}  // namespace

GmtSession::GmtSession(const std::string& purpose, const Control& control) : program_(find_program("gmt")), stop_(control.stop) {
  if (program_.empty()) {
    throw Error(fmt::format("{} with GMT, which is not installed: apt-get install gmt gmt-gshhg-low ghostscript", purpose));
  }
  folder_ = make_private_folder("GMT");
  environment_ = make_environment(folder_);
}

GmtSession::~GmtSession() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string GmtSession::run(const std::vector<std::string>& arguments, std::span<const char> input) const {
  return run_child({"GMT", program_, environment_}, arguments, folder_, stop_, input);
}

void GmtSession::run_other(const std::string& name, const std::vector<std::string>& arguments) const {
  run_child({name, find_program(name), environment_}, arguments, folder_, stop_);
}

}  // namespace drift
