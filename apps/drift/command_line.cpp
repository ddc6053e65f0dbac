#include "command_line.h"

#include <filesystem>
#include <string_view>

namespace {

// In single quotes where a shell would see anything but itself in it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line(int argc, const char* const* argv) {
  std::string text = argc > 0 ? quoted(std::filesystem::path(argv[0]).filename().string()) : "drift";
  for (int i = 1; i < argc; ++i) text.append(1, ' ').append(quoted(argv[i]));
  return text;
}
