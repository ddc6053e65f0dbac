#include "data/tracks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "drift/error.h"
#include "drift/position.h"

namespace drift {
namespace {

constexpr double kSecondsPerDay = 86400.0;

// Echoes come from places up to 15 km beside the nadir, first on one side and then on the other: latitude turns only where it
// stays turned for so long.
constexpr double kTurnDeg = 0.25;

// What a satellite covers at most: no orbit's ground track is faster than 8 km/s; and twice those 15 km.
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
  Turns(const Observations& o, const Indices& order) : o_(o), order_(order) {}

  void begin(std::size_t at) {
    lowest_ = highest_ = at;
    sense_ = 0;
  }

  // Where the next track began, if `at` shows that one did; 0: not.
  std::size_t add(std::size_t at) {
    if (lat(at) > lat(highest_)) highest_ = at;
    if (lat(at) < lat(lowest_)) lowest_ = at;
    if (sense_ <= 0 && lat(at) > lat(lowest_) + kTurnDeg) return turn(1, lowest_, highest_, at);
    if (sense_ >= 0 && lat(at) < lat(highest_) - kTurnDeg) return turn(-1, highest_, lowest_, at);
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
  std::size_t lowest_ = 0, highest_ = 0;
  int sense_ = 0;  // 1 north, -1 south, 0 not known yet
};

struct Counts {
  std::size_t pairs = 0, jumps = 0;      // neighbours in time without a gap; those too far apart
  std::size_t in_short = 0, in_any = 0;  // observations
};

// Gives the tracks of one platform numbers from `next` on.
void number_platform(Observations& o, const Indices& order, double gap_s, std::int32_t& next, Counts& counts) {
  Turns turns(o, order);
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

}  // namespace

std::size_t find_tracks(Observations& observations, double gap_s) {
  observations.track.clear();
  if (observations.size() == 0 || observations.time_days.empty()) return 0;
  if (observations.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("more observations than can be put into tracks, 4,294,967,295; read fewer, or give a track variable");
  }
  observations.track.resize(observations.size());
  std::int32_t next = 0;
  Counts counts;
  const std::size_t platforms = observations.platform.empty() ? 1 : observations.platform_names.size();
  for (std::size_t platform = 0; platform < platforms; ++platform) {
    number_platform(observations, in_time_order(observations, platform), gap_s, next, counts);
  }
  if (!has_tracks(observations, counts)) {
    observations.track = {};
    return 0;
  }
  return renumber_tracks(observations);
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

}  // namespace drift
