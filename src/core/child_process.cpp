#include "core/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/whole_file.h"
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

std::string search_path() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const std::string_view text = *entry; text.starts_with("PATH=")) return std::string(text.substr(5));
  }
  return "";
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

// Set-up of the child besides its arguments, freed with its owner.
struct FileActions {
  posix_spawn_file_actions_t actions;
  FileActions() { posix_spawn_file_actions_init(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
};

// A child has a process group of its own, with what it starts, as GMT does Ghostscript: a signal to the child alone would leave
// that one writing into a folder which is about to go.
int wait_for(pid_t child, const std::string& name, const std::stop_token& stop) {
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

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void run_gdal(const std::string& program, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
              const std::stop_token& stop) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.insert(environment.end(), {"GDAL_PAM_ENABLED=NO", "CPL_TMPDIR=" + folder.string()});
  try {
    run_child({.name = "GDAL", .path = program, .environment = environment}, arguments, folder, stop);
  } catch (const Stopped&) {
    throw Stopped("stopped");  // it may read or write
  }
}

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

std::string run_child(const ChildProgram& program, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                      const std::stop_token& stop, std::span<const char> input) {
  if (stop.stop_requested()) throw Stopped("stopped; nothing was drawn");
  // Through files, so that no side ever waits for the other.
  const std::filesystem::path in = folder / "stdin", out = folder / "stdout", err = folder / "stderr";
  write_whole_file(in, input);
  FileActions files;
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files.actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files.actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&files.actions, folder.c_str());
  const std::string word = std::filesystem::path(program.path).filename();
  std::vector<std::string> words = {word}, environment = program.environment;
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_t child = 0;
  const Group group;
  const int error = ::posix_spawn(&child, program.path.c_str(), &files.actions, &group.attributes, c_strings(words).data(),
                                  c_strings(environment).data());
  if (error != 0) throw Error(fmt::format("{} cannot be started: {}", program.path, system_reason(error)));
  const int status = wait_for(child, program.name, stop);
  if (stop.stop_requested()) throw Stopped("stopped; nothing was drawn");
  if (WIFSIGNALED(status)) {
    throw Error(
        fmt::format("{} was ended by signal {} in '{} {}'", program.name, WTERMSIG(status), word, fmt::join(arguments, " ")));
  }
  if (WEXITSTATUS(status) != 0) {
    throw Error(fmt::format("{} failed in '{} {}': {}", program.name, word, fmt::join(arguments, " "),
                            first_error(read_whole_file(err))));
  }
  return read_whole_file(out);
}

}  // namespace drift
