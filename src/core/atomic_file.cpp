#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "drift/error.h"

namespace drift {
namespace {

// A name that no other thread or live process uses.
std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = target;
  name += fmt::format(".{}-{}.part", ::getpid(), counter.fetch_add(1));
  return name;
}

}  // namespace

int FileDescriptor::close() {
  const int value = std::exchange(value_, -1);
  return value < 0 || ::close(value) == 0 ? 0 : errno;
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), target_(path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status)) {
      throw Error(fmt::format("cannot write {}: it exists and is not a regular file", path.string()));
    }
    const std::filesystem::path behind_links = std::filesystem::canonical(path, ignored);
    if (!ignored) target_ = behind_links;
  }
  int error = EEXIST;
  for (int attempt = 0; attempt < 100 && error == EEXIST; ++attempt) {  // EEXIST: left behind by a killed process of the same id
    const std::filesystem::path name = temporary_name(target_);
    file_ = FileDescriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
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

void AtomicFile::commit() {
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
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return;
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) fail(errno);
}

}  // namespace drift
