#include "data/csv_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "drift/error.h"

namespace drift {
namespace {

constexpr unsigned kGzipBuffer = 256U << 10;               // bytes; zlib's own 8 KiB cost a call each
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // bytes; gzread counts in int

gzFile as_gzip(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void CsvSource::CloseGzip::operator()(void* file) const { gzclose_r(as_gzip(file)); }

CsvSource::CsvSource(const std::filesystem::path& path, std::size_t window_bytes)
    : path_(path), window_bytes_(window_bytes), buffer_(new char[window_bytes + 1]) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot be read: " + std::generic_category().message(errno));
  struct stat status = {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (known && !S_ISDIR(status.st_mode)) file_.reset(gzdopen(descriptor, "rb"));
  if (!file_) {
    ::close(descriptor);
    fail(known && S_ISDIR(status.st_mode) ? "is a folder, not a file" : "cannot be read");
  }
  gzbuffer(as_gzip(file_.get()), kGzipBuffer);
}

void CsvSource::consume(std::size_t bytes) {
  line_ += static_cast<std::size_t>(std::count(buffer_.get() + begin_, buffer_.get() + begin_ + bytes, '\n'));
  begin_ += bytes;
}

void CsvSource::fill() {
  if (at_end_) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < window_bytes_ && !at_end_) {
    const auto wanted = static_cast<unsigned>(std::min(window_bytes_ - end_, kMostAtOnce));
    const int got = gzread(as_gzip(file_.get()), buffer_.get() + end_, wanted);
    int error = Z_OK;
    const char* const message = gzerror(as_gzip(file_.get()), &error);
    if (error == Z_ERRNO) fail("cannot be read: " + std::generic_category().message(errno));
    if (error == Z_BUF_ERROR) fail("is cut short: its compressed text ends before it should");
    if (got < 0) fail(fmt::format("cannot be read as gzip: {}", message));
    end_ += static_cast<std::size_t>(got);
    at_end_ = got == 0;
  }
  if (at_end_ && end_ > 0 && buffer_[end_ - 1] != '\n') buffer_[end_++] = '\n';
}

std::size_t CsvSource::line_of(const char* at) const {
  return line_ + static_cast<std::size_t>(std::count(static_cast<const char*>(buffer_.get()) + begin_, at, '\n'));
}

std::string CsvSource::at_line(std::size_t line) const { return fmt::format("{}:{}", path_.string(), line); }

void CsvSource::fail(const char* at, const std::string& message) const {
  throw Error(fmt::format("{}: {}", at_line(line_of(at)), message));
}

void CsvSource::fail(const std::string& message) const { throw Error(fmt::format("{}: {}", path_.string(), message)); }

}  // namespace drift
