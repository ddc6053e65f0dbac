#pragma once

// A fuzz target is a function of any bytes. It may throw drift::Error, which is the right answer to most of them; anything else
// that escapes, a sanitizer's report or a broken promise (`require`) is a finding. One file per target, which names itself:
//   const FuzzTarget target("condition", [](std::string_view input) { ... });
// libfuzzer_entry.cpp makes a libFuzzer program of one target, replay_test.cpp an ordinary test of all.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "drift/error.h"

namespace drift::fuzz {

struct FuzzTarget {
  using Run = void (*)(std::string_view input);

  FuzzTarget(const char* name_, Run run_) : name(name_), run_one(run_) { all().push_back(this); }

  static std::vector<const FuzzTarget*>& all() {
    static std::vector<const FuzzTarget*> targets;
    return targets;
  }

  // False: it was refused with a sentence.
  bool run(std::string_view input) const {
    try {
      run_one(input);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  const char* name;
  Run run_one;
};

// What must hold whatever the input is.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// The input as a file that never touches a disk.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    require(file_ >= 0 && ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "a file in memory");
    path_ = "/proc/self/fd/" + std::to_string(file_);
  }
  ~InputFile() { ::close(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

// Up to a separator, and what is behind it.
inline std::pair<std::string, std::string> split(std::string_view input, char separator) {
  const std::size_t at = input.find(separator);
  if (at == std::string_view::npos) return {std::string(input), ""};
  return {std::string(input.substr(0, at)), std::string(input.substr(at + 1))};
}

// A safetensors file of a header's text, a line end and the tensors' bytes: the header's length follows, so that a header that
// grows or shrinks is still one.
inline std::string as_safetensors(std::string_view input) {
  const auto [header, data] = split(input, '\n');
  const std::uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

}  // namespace drift::fuzz
