#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
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

// A file that appears under its name all at once or not at all: written to a temporary name in the same folder, flushed to the
// disk and renamed over what was there. Every failure throws Error with the path and the system's reason, removes the temporary
// file and leaves the old one as it was.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // without commit(): nothing is left

  const std::filesystem::path& path() const { return path_; }
  void write(std::span<const std::byte> bytes);
  // For libraries that write by name: the empty file to fill. They close it before commit().
  const std::filesystem::path& temporary() const { return temporary_; }
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void sync_folder() const;

  std::filesystem::path path_;       // as asked for, for messages
  std::filesystem::path target_;     // behind symbolic links
  std::filesystem::path temporary_;  // empty once renamed
  FileDescriptor file_;
};

}  // namespace drift
