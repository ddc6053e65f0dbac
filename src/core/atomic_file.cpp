#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>

#include "core/fingerprint.h"
#include "drift/error.h"
#include "drift/parse_number.h"

namespace drift {
namespace {

namespace fs = std::filesystem;

// NOLINTNEXTLINE(*-non-const-global-variables): what makes the names of one process differ
std::atomic<unsigned> names_given{0};

// Scope in which a process's number is unique: this machine, and in it this container. Folders may be shared between machines.
const std::string& machine() {
  static const std::string text = [] {
    std::array<char, 256> name = {};
    ::gethostname(name.data(), name.size() - 1);
    std::error_code ignored;
    Fingerprint print;
    print.add(std::string_view(name.data()));
    print.add(fs::read_symlink("/proc/self/ns/pid", ignored).string());
    return print.text().substr(0, 8);
  }();
  return text;
}

// A name that no other thread or live process uses: TARGET.MACHINE-PROCESS-NUMBER.part
fs::path temporary_name(const fs::path& target) {
  fs::path name = target;
  name += fmt::format(".{}-{}-{}.part", machine(), ::getpid(), names_given.fetch_add(1));
  return name;
}

// True if a process writes no more: it has ended, or was killed and only waits for its parent to notice.
bool is_gone(pid_t process) {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string status;
  std::getline(file, status);
  const std::size_t name_end = status.rfind(") ");
  return name_end != std::string::npos && status.substr(name_end + 2).starts_with('Z');
}

// True if a temporary file, by the end of its name, was left behind by a process of this machine that is no more.
bool is_left_behind(std::string_view end) {
  if (!end.starts_with(machine() + "-") || !end.ends_with(".part")) return false;
  end = end.substr(machine().size() + 1, end.size() - machine().size() - 6);
  const auto numbers = parse_numbers<int>(end, '-', 2);
  if (!numbers || (*numbers)[0] <= 0 || (*numbers)[1] < 0) return false;
  const pid_t process = (*numbers)[0];
  // This process's own number may have been another's before: in a container it often is.
  if (process == ::getpid()) return static_cast<unsigned>((*numbers)[1]) >= names_given;
  return is_gone(process);
}

// Removes what killed processes left of earlier attempts at this file.
void remove_left_behind(const fs::path& target) {
  const std::string stem = target.filename().string() + ".";
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(stem) && is_left_behind(std::string_view(name).substr(stem.size()))) ::unlink(entry->path().c_str());
  }
}

// Once per file, for folders may be long.
void remove_left_behind_once(const fs::path& target) {
  static std::mutex mutex;
  static std::set<fs::path> done;
  {
    const std::lock_guard lock(mutex);
    if (!done.insert(target).second) return;
  }
  remove_left_behind(target);
}

}  // namespace

int FileDescriptor::close() {
  const int value = std::exchange(value_, -1);
  return value < 0 || ::close(value) == 0 ? 0 : errno;
}

fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  std::error_code error;
  fs::path target = path;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // or `next` alone, where that is absolute
  }
  const fs::path folder = fs::canonical(target.has_parent_path() ? target.parent_path() : fs::path("."), error);
  return error ? target : folder / target.filename();
}

std::string why_missing(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0 || errno == ENOENT) return "no such file";
  return "cannot be read: " + std::generic_category().message(errno);
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path), target_(behind_links(path)) {
  struct stat status = {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (!exists && errno == ELOOP) fail(ELOOP);
  if (exists && !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("cannot write {}: it exists and is not a regular file", path.string()));
  }
  if (exists) mode_ = status.st_mode & 0777;
  remove_left_behind_once(target_);
  // No one may read meanwhile who may not in the end.
  const mode_t meanwhile = exists ? 0600 : 0666;
  int error = EEXIST;
  for (int attempt = 0; attempt < 100 && error == EEXIST; ++attempt) {  // EEXIST: left behind by a killed process of the same id
    const fs::path name = temporary_name(target_);
    file_ = FileDescriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, meanwhile));
    error = file_.is_open() ? 0 : errno;
    if (error == 0) temporary_ = name;
  }
  if (error != 0) fail(error);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

fs::path AtomicFile::for_libraries() const {
  fs::path opened = fmt::format("/proc/self/fd/{}", file_.get());
  return ::access(opened.c_str(), W_OK) == 0 ? opened : temporary_;
}

void AtomicFile::commit() {
  struct stat own = {}, named = {};
  if (::fstat(file_.get(), &own) != 0 || ::lstat(temporary_.c_str(), &named) != 0) fail(errno);
  if (own.st_dev != named.st_dev || own.st_ino != named.st_ino) {
    throw Error(fmt::format("cannot write {}: another program has replaced {}", path_.string(), temporary_.string()));
  }
  if (mode_ && ::fchmod(file_.get(), *mode_) != 0) fail(errno);
  if (::fsync(file_.get()) != 0) fail(errno);
  if (const int error = file_.close()) fail(error);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  sync_folder();
}

void AtomicFile::fail(int error) const {
  throw Error(fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(error)));
}

// Makes the new name survive a power cut. Folders that may not be read, and file systems that cannot flush one, are let be: the
// file itself is whole either way.
void AtomicFile::sync_folder() const {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return;
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) fail(errno);
}

void remove_with_attempts(const fs::path& path) {
  std::error_code ignored;
  remove_left_behind(behind_links(path));
  fs::remove(path, ignored);
}

}  // namespace drift
