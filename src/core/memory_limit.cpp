#include "core/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "drift/parse_number.h"

namespace drift {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "max", the word for none, is no number; nor is a file that is not there.
std::optional<double> number_in(const std::filesystem::path& path) {
  const std::string text = text_of(path);
  return parse_number<double>(std::string_view(text).substr(0, text.find('\n')));
}

}  // namespace

std::optional<double> group_memory_limit(const std::filesystem::path& root, const std::string& groups) {
  std::optional<double> least;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "0::/user.slice", "4:memory:/docker/1234"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const std::filesystem::path base = controllers.empty() ? root : root / "memory";
    const char* file = controllers.empty() ? "memory.max" : "memory.limit_in_bytes";
    // In a container the path may be that of the host, which is not seen from inside: the root is then the group itself.
    std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
    for (;; group = group.parent_path()) {
      if (const auto limit = number_in(base / group / file)) least = std::min(least.value_or(*limit), *limit);
      if (group.empty()) break;
    }
  }
  return least;
}

double memory_limit_bytes() {
  const double machine = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return std::min(machine, group_memory_limit("/sys/fs/cgroup", text_of("/proc/self/cgroup")).value_or(machine));
}

}  // namespace drift
