#include "output/gmt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "drift/control.h"
#include "drift/error.h"

namespace drift {
namespace {

std::string system_reason(int error) { return std::generic_category().message(error); }

// A process group of the child's own.
struct Group {
  posix_spawnattr_t attributes;
  Group() {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { posix_spawnattr_destroy(&attributes); }
};

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

std::string search_path() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const std::string_view text = *entry; text.starts_with("PATH=")) return std::string(text.substr(5));
  }
  return "";
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole(const std::filesystem::path& path, std::span<const char> bytes, const std::string& user) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(fmt::format("cannot write {} for {}: {}", path.string(), user, system_reason(errno)));
}

// "grdimage [ERROR]: Unable to ..." and what follows it, else the first line of all.
std::string first_error(const std::string& messages) {
  std::istringstream lines(messages);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("[ERROR]") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "it gave no reason" : first;
}

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the child is started with besides its arguments, freed with its owner.
struct FileActions {
  posix_spawn_file_actions_t actions;
  FileActions() { posix_spawn_file_actions_init(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
};

// GMT has a process group of its own, with the Ghostscript that it starts: a signal to GMT alone would leave that one writing
// into a folder which is about to go.
int wait_for(pid_t child, const std::stop_token& stop, const std::string& name) {
  {
    // The child stays, ended or not, until it is waited for below: its number cannot be another's meanwhile.
    const std::stop_callback end_it(stop, [child] { ::kill(-child, SIGKILL); });
    siginfo_t ignored;
    while (::waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(fmt::format("{} was started and cannot be waited for: {}", name, system_reason(errno)));
  }
  // Whom it started and left behind is gone within milliseconds of the signal.
  for (int i = 0; stop.stop_requested() && i < 200 && ::kill(-child, 0) == 0; ++i) ::usleep(5000);
  return status;
}

}  // namespace

std::string find_program(const std::string& name) {
  std::istringstream folders(search_path());
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) {
      return std::filesystem::absolute(program, ignored).string();
    }
  }
  return "";
}

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

std::filesystem::path make_private_folder(const std::string& user) {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string name = (parent / "drift-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(fmt::format("cannot create a temporary folder for {} in {}: {}; set TMPDIR to a writable folder", user,
                            parent.string(), system_reason(errno)));
  }
  return name;
}

std::string run_child(const ChildProgram& child, std::vector<std::string> words, std::span<const char> input) {
  if (child.stop.stop_requested()) throw Stopped("stopped; nothing was drawn");
  // Through files, so that no side ever waits for the other.
  const std::filesystem::path in = child.folder / "stdin", out = child.folder / "stdout", err = child.folder / "stderr";
  write_whole(in, input, child.name);
  FileActions files;
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files.actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files.actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&files.actions, child.folder.c_str());
  std::vector<std::string> environment = child.environment;
  const std::string shown = fmt::format("{}", fmt::join(words, " "));
  pid_t id = 0;
  const Group group;
  const int error = ::posix_spawn(&id, child.path.c_str(), &files.actions, &group.attributes, c_strings(words).data(),
                                  c_strings(environment).data());
  if (error != 0) throw Error(fmt::format("{} cannot be started: {}", child.path, system_reason(error)));
  const int status = wait_for(id, child.stop, child.name);
  if (child.stop.stop_requested()) throw Stopped("stopped; nothing was drawn");
  if (WIFSIGNALED(status)) throw Error(fmt::format("{} was ended by signal {} in '{}'", child.name, WTERMSIG(status), shown));
  if (WEXITSTATUS(status) != 0)
    throw Error(fmt::format("{} failed in '{}': {}", child.name, shown, first_error(read_whole(err))));
  return read_whole(out);
}

std::string GmtSession::run(const std::vector<std::string>& arguments, std::span<const char> input) const {
  std::vector<std::string> words = {"gmt"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_child({.name = "GMT", .path = program_, .environment = environment_, .folder = folder_, .stop = stop_},
                   std::move(words), input);
}

}  // namespace drift
