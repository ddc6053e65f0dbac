#include "core/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "core/atomic_file.h"
#include "drift/error.h"

namespace drift {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw Error(fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

}  // namespace

void read_blocks(const std::filesystem::path& path, const std::function<void(std::span<const std::byte>)>& take) {
  constexpr std::size_t kBlock = std::size_t{4} << 20;  // bytes
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail("read", path, errno);
  std::vector<std::byte> block(kBlock);
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count == 0) return;
    if (count > 0)
      take(std::span(block).first(static_cast<std::size_t>(count)));
    else if (errno != EINTR)
      fail("read", path, errno);
  }
}

std::string read_whole_file(const std::filesystem::path& path) {
  std::string bytes;
  read_blocks(path,
              [&](std::span<const std::byte> block) { bytes.append(reinterpret_cast<const char*>(block.data()), block.size()); });
  return bytes;
}

std::string read_bounded_file(const std::filesystem::path& path, const char* what, std::size_t most_bytes) {
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}: {}", path.string(), why)); };
  const auto refuse_for = [&](int error) { refuse(fmt::format("cannot be read: {}", std::generic_category().message(error))); };
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) refuse_for(errno);
  if (S_ISDIR(status.st_mode)) refuse(fmt::format("is a folder, not {}", what));
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
    refuse(fmt::format("is neither a regular file nor a pipe, so not {}", what));
  constexpr std::size_t kBlock = std::size_t{64} << 10;  // bytes
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const ssize_t count = ::read(file.get(), text.data() + before, kBlock);
    if (count < 0 && errno != EINTR) refuse_for(errno);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (text.size() > most_bytes) refuse(fmt::format("is larger than {} may be ({} bytes)", what, most_bytes));
  }
}

void write_whole_file(const std::filesystem::path& path, std::span<const char> bytes) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) fail("write", path, errno);
  write_at(file.get(), path, std::as_bytes(bytes), 0);
  if (const int error = file.close()) fail("write", path, error);
}

void write_at(int file, const std::filesystem::path& path, std::span<const std::byte> bytes, std::size_t place) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      place += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      fail("write", path, errno);
    }
  }
}

}  // namespace drift
