#include "netcdf/guarded_open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <system_error>

#include "core/atomic_file.h"
#include "core/threads.h"
#include "drift/error.h"
#include "netcdf/file_kind.h"
#include "netcdf/hdf5_parts.h"
#include "netcdf/netcdf_call.h"

namespace drift {
namespace {

using Clock = std::chrono::steady_clock;
using Paths = std::vector<std::filesystem::path>;

bool write_all(int to, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(to, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

// For each file a number of bytes and so many bytes of text: what is wrong with it.
[[noreturn]] void work_as_child(const Paths& files, std::size_t first, const Listing& listing, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  for (std::size_t i = first; i < files.size(); ++i) {
    std::string wrong;
    try {
      listing(files[i]);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    const auto length = static_cast<std::uint32_t>(wrong.size());
    std::array<char, sizeof(length)> head = {};
    std::memcpy(head.data(), &length, sizeof(length));
    if (!write_all(to, head.data(), head.size()) || !write_all(to, wrong.data(), wrong.size())) ::_exit(1);
  }
  ::_exit(0);
}

// A child and its share of the files; another takes over where one is lost.
class Guard {
 public:
  Guard(Paths files, double limit_s, const Listing& listing) : files_(std::move(files)), limit_(limit_s), listing_(listing) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { end(); }

  bool done() const { return results_.size() == files_.size(); }
  int descriptor() const { return from_.get(); }
  std::vector<std::string>& results() { return results_; }

  // 0, or the system's error number: no child can be had, and the rest goes untried.
  int start() {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    FileDescriptor from(ends[0]), to(ends[1]);
    int error = 0;
    {
      const auto lock = lock_netcdf();
      child_ = ::fork();
      error = errno;
    }
    if (child_ == 0) work_as_child(files_, results_.size(), listing_, ends[1]);
    if (child_ < 0) return error;
    from_ = std::move(from);
    since_ = Clock::now();
    return 0;
  }

  // Takes what the child has written. False: it is gone before its work was done.
  bool take() {
    std::array<char, 4096> bytes = {};
    const ssize_t count = ::read(from_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    std::uint32_t length = 0;
    while (buffer_.size() >= sizeof(length)) {
      std::memcpy(&length, buffer_.data(), sizeof(length));
      if (buffer_.size() < sizeof(length) + length) break;
      results_.push_back(buffer_.substr(sizeof(length), length));
      buffer_.erase(0, sizeof(length) + length);
      since_ = Clock::now();
    }
    return true;
  }

  bool late() const { return std::chrono::duration<double>(Clock::now() - since_).count() > limit_; }

  // The file at hand is what the child was lost to.
  void note_lost(bool hung) {
    const int status = end();
    const std::filesystem::path& file = files_[results_.size()];
    const char* const reader = is_zarr(file) ? "netCDF" : "HDF5";
    const std::string what =
        hung                  ? fmt::format("it hangs: {} could not read it within {:g} s; the file is damaged", reader, limit_)
        : WIFSIGNALED(status) ? fmt::format("{} crashes on it ({}); the file is damaged", reader, ::sigdescr_np(WTERMSIG(status)))
                              : "not opened: the child process that was to try it first ended early";
    results_.push_back(fmt::format("{}: {}", file.string(), what));
  }

  int end() {
    if (child_ <= 0) return 0;
    ::kill(child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    from_.close();
    buffer_.clear();
    return status;
  }

 private:
  Paths files_;
  double limit_;
  const Listing& listing_;
  pid_t child_ = -1;
  FileDescriptor from_;
  std::string buffer_;
  Clock::time_point since_;
  std::vector<std::string> results_;  // of the first files
};

// 0, or why no child could be had.
int run(std::vector<std::unique_ptr<Guard>>& guards, const Control& control) {
  constexpr int kPollMs = 50;
  for (;;) {
    control.check_stop("stopped while opening files");
    std::vector<pollfd> waiting;
    std::vector<Guard*> of;
    for (const auto& guard : guards) {
      if (guard->done()) continue;
      if (guard->descriptor() < 0) {
        if (const int error = guard->start(); error != 0) return error;
      }
      waiting.push_back({.fd = guard->descriptor(), .events = POLLIN, .revents = 0});
      of.push_back(guard.get());
    }
    if (waiting.empty()) return 0;
    ::poll(waiting.data(), waiting.size(), kPollMs);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (waiting[i].revents != 0) {
        if (!of[i]->take()) of[i]->note_lost(false);
      } else if (of[i]->late()) {
        of[i]->note_lost(true);
      }
    }
  }
}

}  // namespace

bool needs_guard(const std::filesystem::path& path) { return is_zarr(path) || is_hdf5(path); }

void list_contents(const std::filesystem::path& path) {
  if (is_hdf5(path)) {
    const auto lock = lock_netcdf();
    check_is_one_file(path);
  }
  const NcReader file(path, {}, NcReader::Packed::as_it_is);
  const auto read_attributes = [&](const NcVariable& owner) {
    for (const std::string& name : file.attribute_names(owner)) {
      file.text(owner, name);
      file.numbers(owner, name);
    }
  };
  std::set<int> groups;
  for (NcVariable variable : file.variables()) {
    read_attributes(variable);
    variable.id = NC_GLOBAL;
    if (groups.insert(variable.group).second) read_attributes(variable);
  }
}

Tried try_to_open(std::span<const std::filesystem::path> files, double limit_s, const Control& control, const Listing& listing) {
  Tried all = {.wrong = std::vector<std::string>(files.size()), .warning = {}};
  std::vector<std::size_t> tried;
  for (std::size_t i = 0; i < files.size() && limit_s > 0.0; ++i) {
    if (needs_guard(files[i])) tried.push_back(i);
  }
  const std::size_t children = std::min(tried.size(), static_cast<std::size_t>(threads_or_all(control.threads)));
  std::vector<std::unique_ptr<Guard>> guards;
  for (std::size_t child = 0; child < children; ++child) {
    Paths share;
    for (std::size_t i = child; i < tried.size(); i += children) share.push_back(files[tried[i]]);
    guards.push_back(std::make_unique<Guard>(std::move(share), limit_s, listing));
  }
  const int error = run(guards, control);
  std::size_t untried = 0;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    std::vector<std::string>& some = guards[i % children]->results();
    if (i / children < some.size())
      all.wrong[tried[i]] = std::move(some[i / children]);
    else
      ++untried;
  }
  if (untried > 0) {
    all.warning = fmt::format(
        "{} of {} NetCDF-4 files or Zarr stores were not first tried in a child process, since none could be started ({}); a "
        "damaged one can crash HDF5 and with it this program.",
        untried, tried.size(), std::generic_category().message(error));
  }
  return all;
}

void check_guarded(const std::filesystem::path& path, double limit_s, const Listing& listing, const Control& control) {
  const Tried tried = try_to_open(std::span(&path, 1), limit_s, control, listing);
  if (!tried.wrong.front().empty()) throw Error(tried.wrong.front());
  if (!tried.warning.empty()) throw Error(fmt::format("{}: not opened: {}", path.string(), tried.warning));
}

NcReader open_guarded(const std::filesystem::path& path, double limit_s, const Control& control) {
  check_guarded(path, limit_s, list_contents, control);
  return NcReader(path, control.stop);
}

}  // namespace drift
