#include "data/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/position.h"

namespace drift {
namespace {

// Echoes come from places up to 15 km beside the nadir, first on one side and then on the other: latitude turns only where it
// stays turned for so long. The centre of a swath's line wanders by half of the line where pixels are missing.
constexpr double kTurnDeg = 0.25;

// The most that a satellite covers: no orbit's ground track is faster than 8 km/s; and twice those 15 km.
constexpr double kMostKmPerS = 8.0;
constexpr double kMostJumpKm = 30.0;

// Tracks of fewer observations than this are none.
constexpr std::size_t kFewest = 3;

using Indices = std::vector<std::uint32_t>;

double distance_km(const Observations& o, std::size_t a, std::size_t b) {
  const UnitVector u = unit_vector({o.lon_deg[a], o.lat_deg[a]}), v = unit_vector({o.lon_deg[b], o.lat_deg[b]});
  const double chord = std::sqrt((u[0] - v[0]) * (u[0] - v[0]) + (u[1] - v[1]) * (u[1] - v[1]) + (u[2] - v[2]) * (u[2] - v[2]));
  return 2.0 * kEarthRadiusKm * std::asin(std::min(1.0, 0.5 * chord));
}

Indices in_time_order(const Observations& o, std::size_t platform) {
  Indices indices;
  for (std::size_t i = 0; i < o.size(); ++i) {
    if (o.platform.empty() || o.platform[i] == platform) indices.push_back(static_cast<std::uint32_t>(i));
  }
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return o.time_days[a] < o.time_days[b]; };
  if (!std::is_sorted(indices.begin(), indices.end(), earlier)) std::stable_sort(indices.begin(), indices.end(), earlier);
  return indices;
}

// Where one stretch without gaps turns north or south: the first index of each track in it.
class Turns {
 public:
  Turns(const Observations& o, const Indices& order, double turn_deg) : o_(o), order_(order), turn_deg_(turn_deg) {}

  void begin(std::size_t at) {
    lowest_ = highest_ = at;
    sense_ = 0;
  }

  // Where the next track began, if `at` shows that one did; 0: not.
  std::size_t add(std::size_t at) {
    if (lat(at) > lat(highest_)) highest_ = at;
    if (lat(at) < lat(lowest_)) lowest_ = at;
    if (sense_ <= 0 && lat(at) > lat(lowest_) + turn_deg_) return turn(1, lowest_, highest_, at);
    if (sense_ >= 0 && lat(at) < lat(highest_) - turn_deg_) return turn(-1, highest_, lowest_, at);
    return 0;
  }

 private:
  double lat(std::size_t at) const { return o_.lat_deg[order_[at]]; }

  std::size_t turn(int sense, std::size_t from, std::size_t& extreme, std::size_t at) {
    const bool is_first = sense_ == 0;
    sense_ = sense;
    extreme = at;
    return is_first ? 0 : from + 1;
  }

  const Observations& o_;
  const Indices& order_;
  const double turn_deg_;
  std::size_t lowest_ = 0, highest_ = 0;
  int sense_ = 0;  // 1 north, -1 south, 0 not known yet
};

struct Counts {
  std::size_t pairs = 0, jumps = 0;      // neighbours in time without a gap; those too far apart
  std::size_t in_short = 0, in_any = 0;  // observations
};

// Gives the tracks of one platform numbers from `next` on.
void number_platform(Observations& o, const Indices& order, double gap_s, double turn_deg, std::int32_t& next, Counts& counts) {
  Turns turns(o, order, turn_deg);
  std::size_t begin = 0;  // of the current track
  const auto end_track = [&](std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) o.track[order[i]] = next;
    ++next;
    (end - begin < kFewest ? counts.in_short : counts.in_any) += end - begin;
    begin = end;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (i == 1) turns.begin(0);
    const double dt_s = (o.time_days[order[i]] - o.time_days[order[i - 1]]) * kSecondsPerDay;
    if (dt_s > gap_s) {
      end_track(i);
      turns.begin(i);
      continue;
    }
    ++counts.pairs;
    if (distance_km(o, order[i], order[i - 1]) > kMostJumpKm + kMostKmPerS * dt_s) ++counts.jumps;
    if (const std::size_t turned = turns.add(i); turned > 0) end_track(turned);
  }
  if (!order.empty()) end_track(order.size());
}

bool has_tracks(const Observations& o, const Counts& counts) {
  const auto [first, last] = std::minmax_element(o.time_days.begin(), o.time_days.end());
  return *first < *last && 2 * counts.jumps <= counts.pairs && counts.in_any >= counts.in_short;
}

std::size_t platforms_of(const Observations& o) { return o.platform.empty() ? 1 : o.platform_names.size(); }

// The column of tracks, whatever it is worth.
Counts number_all(Observations& o, const std::vector<Indices>& order, double gap_s, double turn_deg) {
  o.track.resize(o.size());
  std::int32_t next = 0;
  Counts counts;
  for (const Indices& platform : order) number_platform(o, platform, gap_s, turn_deg, next, counts);
  return counts;
}

// Most neighbours in time have the very same.
bool lie_in_lines(const Observations& o, const std::vector<Indices>& order) {
  std::size_t same = 0;
  for (const Indices& platform : order) {
    for (std::size_t i = 1; i < platform.size(); ++i) same += o.time_days[platform[i]] == o.time_days[platform[i - 1]] ? 1 : 0;
  }
  return 2 * same > o.size();
}

// Observations of a platform at one time, as one.
struct Lines {
  Observations centres;      // values are of no use
  Indices of;                // [observations]
  double tallest_deg = 0.0;  // the most that latitudes of a line differ
};

void add_line(Lines& lines, const Observations& o, std::span<const std::uint32_t> members, std::size_t platform) {
  UnitVector sum = {};
  double south = 90.0, north = -90.0;
  for (const std::uint32_t row : members) {
    const UnitVector v = unit_vector({o.lon_deg[row], o.lat_deg[row]});
    for (std::size_t d = 0; d < 3; ++d) sum.at(d) += v.at(d);
    south = std::min(south, o.lat_deg[row]);
    north = std::max(north, o.lat_deg[row]);
    lines.of[row] = static_cast<std::uint32_t>(lines.centres.size());
  }
  const double length = std::hypot(sum[0], sum[1], sum[2]);
  const Position centre = length > 0.0 ? position_of({sum[0] / length, sum[1] / length, sum[2] / length}) : Position{0.0, 0.0};
  lines.centres.lon_deg.push_back(centre.lon_deg);
  lines.centres.lat_deg.push_back(centre.lat_deg);
  lines.centres.time_days.push_back(o.time_days[members.front()]);
  lines.centres.value.push_back(0.0);
  if (!o.platform.empty()) lines.centres.platform.push_back(static_cast<std::uint8_t>(platform));
  lines.tallest_deg = std::max(lines.tallest_deg, north - south);
}

Lines lines_of(const Observations& o, const std::vector<Indices>& order) {
  Lines lines;
  lines.centres.platform_names = o.platform_names;
  lines.of.resize(o.size());
  for (std::size_t platform = 0; platform < order.size(); ++platform) {
    const Indices& rows = order[platform];
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      while (end < rows.size() && o.time_days[rows[end]] == o.time_days[rows[first]]) ++end;
      add_line(lines, o, std::span(rows).subspan(first, end - first), platform);
    }
  }
  return lines;
}

std::vector<Indices> orders(const Observations& o) {
  std::vector<Indices> order;
  for (std::size_t platform = 0; platform < platforms_of(o); ++platform) order.push_back(in_time_order(o, platform));
  return order;
}

// Tracks of the lines become those of their observations. False where lines do not lie along tracks.
bool number_lines(Observations& o, const std::vector<Indices>& order, double gap_s) {
  Lines lines = lines_of(o, order);
  const Counts counts = number_all(lines.centres, orders(lines.centres), gap_s, std::max(kTurnDeg, lines.tallest_deg));
  if (!has_tracks(lines.centres, counts)) return false;
  o.track.resize(o.size());
  for (std::size_t i = 0; i < o.size(); ++i) o.track[i] = lines.centres.track[lines.of[i]];
  return true;
}

}  // namespace

FoundTracks find_tracks(Observations& observations, double gap_s) {
  observations.track.clear();
  if (observations.size() == 0 || observations.time_days.empty()) return {};
  if (observations.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("more observations than can be put into tracks, 4,294,967,295; read fewer, or give a track variable");
  }
  const std::vector<Indices> order = orders(observations);
  const bool of_lines = lie_in_lines(observations, order);
  const bool found = of_lines ? number_lines(observations, order, gap_s)
                              : has_tracks(observations, number_all(observations, order, gap_s, kTurnDeg));
  if (!found) {
    observations.track = {};
    return {};
  }
  return {.count = renumber_tracks(observations), .of_lines = of_lines};
}

std::size_t count_tracks(const Observations& observations, std::span<const std::size_t> rows) {
  if (observations.track.empty()) return 0;
  std::vector<std::int32_t> tracks;
  for (const std::size_t row : rows) {
    if (tracks.empty() || tracks.back() != observations.track[row]) tracks.push_back(observations.track[row]);
  }
  std::sort(tracks.begin(), tracks.end());
  return static_cast<std::size_t>(std::unique(tracks.begin(), tracks.end()) - tracks.begin());
}

std::size_t renumber_tracks(Observations& observations) {
  std::int32_t next = 0;
  std::vector<std::int32_t> number;
  for (std::int32_t& track : observations.track) {
    const auto old = static_cast<std::size_t>(track);
    if (old >= number.size()) number.resize(old + 1, -1);
    if (number[old] < 0) number[old] = next++;
    track = number[old];
  }
  return static_cast<std::size_t>(next);
}

std::string sparse_tracks(const Observations& observations, std::size_t tracks) {
  constexpr double kApart = 30.0;  // days: fields of the sea surface keep their shape for days to a few weeks
  const auto [first, last] = std::minmax_element(observations.time_days.begin(), observations.time_days.end());
  const double span = *last - *first, apart = span / static_cast<double>(tracks);
  if (apart < kApart) return {};
  return fmt::format(
      "{} tracks over {:.0f} days, one in {:.0f} days, are too sparse to map a field that changes within weeks; add files, or "
      "choose a shorter period with --from and --to.",
      tracks, span, apart);
}

}  // namespace drift
