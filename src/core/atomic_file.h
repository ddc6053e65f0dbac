#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace drift {

// A POSIX file descriptor, closed with its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  int get() const { return value_; }
  bool is_open() const { return value_ >= 0; }
  int close();  // the system's error number, 0 when all is well

 private:
  int value_ = -1;
};

// Target of a path through symbolic links, whether or not it exists; its folder is canonical where that exists.
std::filesystem::path behind_links(const std::filesystem::path& path);

// Why a path leads to no file: "no such file", or what the system says, as where a folder on the way may not be entered.
std::string why_missing(const std::filesystem::path& path);

// A file that appears under its name all at once or not at all: written to a temporary name in the same folder, flushed to the
// disk and renamed over what was there, whose permissions it keeps; through symbolic links, be there a file behind them or not.
// Removes the remains of earlier attempts of killed processes. Every failure throws Error with the path and the system's reason,
// removes the temporary file and leaves the old one as it was.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // without commit(): nothing is left

  const std::filesystem::path& path() const { return path_; }
  void write(std::span<const std::byte> bytes);
  int descriptor() const { return file_.get(); }
  // For libraries that write by name: a name of the open file itself, so that nothing put in place of the temporary file, such as
  // a link, is written to. They close it before commit().
  std::filesystem::path for_libraries() const;
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void sync_folder() const;

  std::filesystem::path path_;       // as asked for, for messages
  std::filesystem::path target_;     // behind symbolic links
  std::filesystem::path temporary_;  // empty once renamed
  std::optional<mode_t> mode_;       // of the file that was there
  FileDescriptor file_;
};

// Removes a file of which no more is needed, as far as it is there, and what killed processes left of attempts at it.
void remove_with_attempts(const std::filesystem::path& path);

}  // namespace drift
