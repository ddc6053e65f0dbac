#pragma once

#include <string>
#include <vector>

#include "drift/error.h"
#include "drift/read_observations.h"

namespace drift {

// What a reading is refused with: "usage: " before it where the caller is to blame.
inline std::string refusal(const std::vector<std::string>& patterns, const ReadOptions& options = {}) {
  try {
    read_observations(patterns, options);
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

inline std::size_t count_of(const ReadReport& report, const std::string& reason) {
  for (const Rejected& some : report.rejected) {
    if (some.reason == reason) return some.count;
  }
  return 0;
}

}  // namespace drift
