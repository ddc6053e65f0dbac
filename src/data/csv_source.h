#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace drift {

// The text of a file, plain or gzip (told by its first bytes, not its name), through a window of fixed size.
class CsvSource {
 public:
  CsvSource(const std::filesystem::path& path, std::size_t window_bytes);

  // What is in the window and not yet consumed; once the end of the file is in it, it ends with \n, added where it is missing.
  std::string_view text() const { return {buffer_.get() + begin_, end_ - begin_}; }
  bool at_end() const { return at_end_; }
  std::size_t window() const { return window_bytes_; }

  void consume(std::size_t bytes);

  // Moves what is left to the front of the window and reads until it is full or the file ends.
  void fill();

  // Number of the line, from 1, on which a place in the window lies.
  std::size_t line_of(const char* at) const;

  std::string at_line(std::size_t line) const;  // "table.csv:17"

  // Throws Error: file, line, message.
  [[noreturn]] void fail(const char* at, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  struct CloseGzip {
    void operator()(void* file) const;
  };

  std::filesystem::path path_;
  std::unique_ptr<void, CloseGzip> file_;
  std::size_t window_bytes_;
  std::unique_ptr<char[]> buffer_;  // [window_bytes_ + 1], one for the \n at the end
  std::size_t begin_ = 0, end_ = 0;
  std::size_t line_ = 1;  // of begin_
  bool at_end_ = false;
};

}  // namespace drift
