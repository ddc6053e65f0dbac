#include "print.h"

#include <cerrno>

#include "drift/text.h"

namespace {

int first_error = 0;  // NOLINT(*-non-const-global-variables): a stream remembers that it failed, but not why

void note_error(bool failed) {
  if (failed && first_error == 0) first_error = errno == 0 ? EIO : errno;
}

}  // namespace

void put(std::FILE* stream, const std::string& text) {
  const std::string shown = drift::printable(text);
  errno = 0;
  const bool failed = std::fwrite(shown.data(), 1, shown.size(), stream) < shown.size();
  if (stream == stdout) note_error(failed);
}

int output_error() {
  errno = 0;
  note_error(std::fflush(stdout) != 0);
  note_error(std::ferror(stdout) != 0);
  return first_error;
}

void print_json(const nlohmann::ordered_json& json) {
  // Bytes that are not UTF-8, as in a file's name, must not keep the rest from being printed.
  print_json_text(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_json_text(const std::string& text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0x7F) {  // only in strings: JSON itself has none of these characters, and its library escapes those below U+0020
      shown += "\\u007f";
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      shown += text[i];
    }
  }
  put(stdout, shown);
}
