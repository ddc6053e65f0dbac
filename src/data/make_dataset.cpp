#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/longitude.h"
#include "data/observation_columns.h"
#include "data/tracks.h"
#include "drift/dataset.h"
#include "drift/error.h"
#include "drift/standard_name.h"

namespace drift {
namespace {

class ArrayCheck {
 public:
  explicit ArrayCheck(const Observations& observations) : observations_(observations) {}

  void lengths() const {
    const auto same = [&](std::size_t size, const char* name, bool needed) {
      if (size == observations_.size() || (size == 0 && !needed)) return;
      throw UsageError(fmt::format("the column '{}' has {} entries but 'value' has {}", name, size, observations_.size()));
    };
    same(observations_.lon_deg.size(), "lon_deg", true);
    same(observations_.lat_deg.size(), "lat_deg", true);
    same(observations_.time_days.size(), "time_days", false);
    same(observations_.sigma.size(), "sigma", false);
    same(observations_.track.size(), "track", false);
    same(observations_.platform.size(), "platform", false);
  }

  void numbers(bool on_plane) const {
    const auto all = [](const auto& column, const char* name, const auto& is_good, const char* must) {
      for (std::size_t i = 0; i < column.size(); ++i) {
        if (is_good(column[i])) continue;
        throw UsageError(fmt::format("the column '{}' is {} in row {}; it must be {}", name, column[i], i, must));
      }
    };
    const auto is_finite = [](double x) { return std::isfinite(x); };
    all(observations_.lon_deg, "lon_deg", is_finite, "finite");
    if (on_plane) {
      all(observations_.lat_deg, "lat_deg", is_finite, "finite");
    } else {
      all(
          observations_.lat_deg, "lat_deg", [](double x) { return std::abs(x) <= 90.0; }, "from -90 to 90 degrees");
    }
    all(observations_.time_days, "time_days", is_finite, "finite");
    all(
        observations_.value, "value", [](double x) { return !std::isinf(x); }, "finite, or NaN where it is missing");
    all(
        observations_.sigma, "sigma", [](double x) { return std::isfinite(x) && x > 0.0; }, "finite and more than zero");
    const std::size_t platforms = observations_.platform_names.size();
    all(
        observations_.platform, "platform", [&](std::uint8_t x) { return x < platforms; }, "an index into 'platform_names'");
  }

 private:
  const Observations& observations_;
};

// Leaves out rows without a value.
void drop_missing(Observations& observations) {
  const std::vector<double>& values = observations.value;
  if (std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) return;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (!std::isnan(observations.value[i])) kept.push_back(i);
  }
  for_each_column(observations, [&](auto& column) {
    if (column.empty()) return;
    for (std::size_t i = 0; i < kept.size(); ++i) column[i] = column[kept[i]];
    column.resize(kept.size());
  });
}

}  // namespace

Dataset make_dataset(Observations observations, VariableInfo value, const ArrayOptions& options) {
  if (!(options.track_gap_s > 0.0))
    throw UsageError(fmt::format("track_gap_s is {}; it must be more than zero", options.track_gap_s));
  if (const std::string problem = standard_name_problem(value.standard_name); !problem.empty()) throw UsageError(problem);
  const ArrayCheck check(observations);
  check.lengths();
  check.numbers(options.on_plane);
  drop_missing(observations);
  if (observations.size() == 0) throw Error("there are no observations: no row has a value");
  Dataset data;
  data.observations = std::move(observations);
  data.value = std::move(value);
  if (data.value.name.empty()) data.value.name = "value";
  data.on_plane = options.on_plane;
  data.plane_unit = options.on_plane ? options.plane_unit : std::string();
  data.calendar_time = options.calendar_time && !data.observations.time_days.empty();
  data.provenance = options.provenance;
  Observations& columns = data.observations;
  if (!options.on_plane) {
    for (double& lon : columns.lon_deg) lon = wrapped_longitude(lon);
  }
  if (!columns.track.empty()) {
    data.tracks = renumber_tracks(columns);
    data.tracks_from = "the column of tracks";
    data.layout = DataLayout::along_track;
  } else if (options.find_tracks && data.calendar_time && !options.on_plane) {
    const FoundTracks found = find_tracks(columns, options.track_gap_s);
    data.tracks = found.count;
    if (found.count > 0) {
      data.tracks_from = fmt::format("{}gaps of {:g} s and turns", found.of_lines ? "lines, " : "", options.track_gap_s);
      data.layout = found.of_lines ? DataLayout::swath : DataLayout::along_track;
    }
  }
  return data;
}

}  // namespace drift
