#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "data/platform_names.h"
#include "drift/dataset.h"
#include "drift/error.h"

namespace drift {
namespace {

// A column that both have or neither has.
template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, const char* name) {
  if (to.empty() != from.empty()) {
    throw Error(fmt::format("the {} have {}, but the {} do not; name the same roles for both, or - for none",
                            from.empty() ? "training files" : "test files", name,
                            from.empty() ? "test files" : "training files"));
  }
  to.insert(to.end(), from.begin(), from.end());
}

// The index of each of the test set's platforms among those of both.
std::vector<std::uint8_t> merge_platforms(std::vector<std::string>& names, const std::vector<std::string>& more) {
  constexpr std::size_t kMost = 255;
  std::vector<std::uint8_t> index;
  for (const std::string& name : more) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      if (names.size() == kMost) throw Error("training and test files have more than 255 platforms together");
      found = names.insert(names.end(), name);
    }
    index.push_back(static_cast<std::uint8_t>(found - names.begin()));
  }
  return index;
}

void check_alike(const Dataset& training, const Dataset& test) {
  if (training.on_plane != test.on_plane || training.calendar_time != test.calendar_time)
    throw Error("the test files have other positions or times than the training files: x and y, or numbers for dates");
  if (training.value.unit != test.value.unit) {
    throw Error(fmt::format("the values of the training files are in '{}', those of the test files in '{}'", training.value.unit,
                            test.value.unit));
  }
}

}  // namespace

Dataset with_test(Dataset training, const Dataset& test) {
  check_alike(training, test);
  Observations& o = training.observations;
  const Observations& more = test.observations;
  training.test.resize(more.size());
  std::iota(training.test.begin(), training.test.end(), o.size());
  // Columns that only the training files have do not hinder a test: errors, tracks and platforms of test rows are not asked for.
  const bool sigma = !o.sigma.empty() && more.sigma.empty(), track = !o.track.empty() && more.track.empty();
  const bool platform = !o.platform.empty() && more.platform.empty();
  const std::int32_t tracks = o.track.empty() ? 0 : *std::max_element(o.track.begin(), o.track.end()) + 1;
  append(o.lon_deg, more.lon_deg, "longitudes");
  append(o.lat_deg, more.lat_deg, "latitudes");
  append(o.time_days, more.time_days, "times");
  append(o.value, more.value, "values");
  if (sigma) throw Error("the training files have standard errors and the test files none; leave them out with --sigma -");
  if (!o.sigma.empty()) append(o.sigma, more.sigma, "standard errors");
  for (std::size_t i = 0; i < more.size() && !o.track.empty(); ++i) o.track.push_back(tracks + (track ? 0 : more.track[i]));
  if (o.platform.empty()) return training;
  const std::vector<std::string> unknown = {"test"};
  const std::vector<std::uint8_t> index = merge_platforms(o.platform_names, platform ? unknown : more.platform_names);
  for (std::size_t i = 0; i < more.size(); ++i) o.platform.push_back(platform ? index[0] : index[more.platform[i]]);
  return training;
}

Dataset with_test_platforms(Dataset data, const std::vector<std::string>& platforms, bool all_but_these) {
  const Observations& o = data.observations;
  if (o.platform.empty()) throw UsageError("a test set by platform needs observations with platforms; name them with --platform");
  for (std::size_t i = 0; i < o.size(); ++i) {
    const std::string& name = o.platform_names[o.platform[i]];
    const bool listed =
        std::any_of(platforms.begin(), platforms.end(), [&](const std::string& platform) { return is_platform(name, platform); });
    if (listed != all_but_these) data.test.push_back(i);
  }
  if (data.test.empty() || data.test.size() == o.size()) {
    throw UsageError(fmt::format("{} of the observations are of the platform {}; there are {}",
                                 data.test.empty() ? "none" : "all", fmt::join(platforms, ", "),
                                 fmt::join(o.platform_names, ", ")));
  }
  return data;
}

}  // namespace drift
