#include "child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "drift/error.h"

namespace {

constexpr int kPollMs = 50;

struct Pipe {
  std::array<int, 2> ends = {-1, -1};

  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw drift::Error(fmt::format("cannot create a pipe: {}", std::generic_category().message(errno)));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (std::size_t i = 0; i < ends.size(); ++i) close(i);
  }
  void close(std::size_t end) {
    if (ends.at(end) >= 0) ::close(ends.at(end));
    ends.at(end) = -1;
  }
};

pid_t start(const std::vector<std::string>& arguments, Pipe& out) {
  std::vector<std::string> texts = {"drift"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw drift::Error(fmt::format("cannot start a child process: {}", std::generic_category().message(error)));
  out.close(1);
  return child;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, const std::stop_token& stop) {
  Pipe out;
  const pid_t child = start(arguments, out);
  ChildResult result;
  std::array<char, 4096> buffer = {};
  for (;;) {
    if (stop.stop_requested() && !result.stopped) {
      result.stopped = true;
      ::kill(child, SIGTERM);
    }
    pollfd waiting = {.fd = out.ends[0], .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) <= 0) continue;
    const ssize_t count = ::read(out.ends[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the child has closed its end
    result.out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  // A ctrl-C reaches the child too, maybe first.
  result.stopped = result.stopped || stop.stop_requested() || result.signal == SIGINT || result.signal == SIGTERM;
  return result;
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have ended before: then nobody is left to read what this program writes.
  pollfd out = {.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0) std::_Exit(1);
}
