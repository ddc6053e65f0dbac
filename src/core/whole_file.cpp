#include "core/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

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
