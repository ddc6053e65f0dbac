#include "drift/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/blocks.h"
#include "core/degree.h"
#include "core/longitude.h"
#include "core/random.h"
#include "core/threads.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "simulate/orbit.h"

namespace drift {
namespace {

constexpr std::size_t kObservationsAtATime = 16384;  // observations between looks at the stop

void check(const SimulateOptions& options) {
  const auto require = [](bool good, const char* option, double value, const char* range) {
    if (!good) throw UsageError(fmt::format("simulate: {} is {}; it must be {}", option, value, range));
  };
  require(options.days > 0.0 && std::isfinite(options.days), "days", options.days, "more than zero");
  require(std::isfinite(options.start_days), "start_days", options.start_days, "finite");
  require(options.rate_hz > 0.0 && std::isfinite(options.rate_hz), "rate_hz", options.rate_hz, "more than zero");
  require(options.noise_sd >= 0.0 && std::isfinite(options.noise_sd), "noise_sd", options.noise_sd, "zero or more");
  require(options.north_deg <= 90.0, "north_deg", options.north_deg, "at most 90");
  require(options.south_deg >= -90.0 && options.south_deg < options.north_deg, "south_deg", options.south_deg,
          "at least -90 and less than north_deg");
  require(options.outlier_share >= 0.0 && options.outlier_share <= 1.0, "outlier_share", options.outlier_share, "from 0 to 1");
  require(options.outlier_sd > 0.0 && std::isfinite(options.outlier_sd), "outlier_sd", options.outlier_sd, "more than zero");
  if (options.box) {
    const auto [west, south, east, north] = *options.box;
    for (const double lon : {west, east}) require(std::abs(lon) <= 360.0, "box's longitude", lon, "within 360 degrees");
    require(north <= 90.0, "box's northern latitude", north, "at most 90");
    require(south >= -90.0 && south < north, "box's southern latitude", south, "at least -90 and less than the northern");
    require(west != east, "box's eastern longitude", east, "another than the western");
  }
  if (options.platforms.empty()) throw UsageError("simulate: no platform is given");
  for (std::size_t i = 0; i < options.platforms.size(); ++i) {
    const auto here = options.platforms.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(options.platforms.begin(), here, *here) == here) continue;
    throw UsageError(fmt::format("simulate: platform '{}' is given twice", *here));
  }
}

const RepeatOrbit& orbit_of(const std::string& platform) {
  for (const RepeatOrbit& orbit : known_orbits()) {
    if (orbit.platform == platform) return orbit;
  }
  throw UsageError(
      fmt::format("simulate: no orbit is known for '{}'; choose from {}", platform, fmt::join(simulated_platforms(), ", ")));
}

// Selects the positions observed. The latitudes are tested first, by their sines: most positions go no further.
class Region {
 public:
  explicit Region(const SimulateOptions& options) {
    double south = options.south_deg, north = options.north_deg;
    if (options.box) {
      const auto [lon0, lat0, lon1, lat1] = *options.box;
      south = std::max(south, lat0);
      north = std::min(north, lat1);
      west_ = lon0;
      east_ = lon1;
    }
    sin_south_ = std::sin(south * kDegree);
    sin_north_ = std::sin(north * kDegree);
  }

  double sin_south() const { return sin_south_; }
  double sin_north() const { return sin_north_; }
  bool has_latitude(double sin_latitude) const { return sin_latitude >= sin_south_ && sin_latitude <= sin_north_; }
  bool has_longitude(double lon_deg) const { return lies_between(west_, east_, lon_deg); }

 private:
  double sin_south_ = -1.0, sin_north_ = 1.0;
  double west_ = -180.0, east_ = 180.0;  // degrees
};

std::uint64_t count_along(const SimulateOptions& options, double rate_hz) {
  return static_cast<std::uint64_t>(std::ceil(options.days * kSecondsPerDay * rate_hz));
}

// Adds positions, times and passes of one platform; a pass runs from pole to pole, so it changes where |latitude| is greatest.
void add_track(const SimulateOptions& options, std::uint8_t platform, const Control& control, Observations& observations) {
  const GroundTrack track(orbit_of(observations.platform_names[platform]));
  const Region region(options);
  const std::uint64_t count = count_along(options, options.rate_hz);
  std::int32_t number = observations.track.empty() ? -1 : observations.track.back();
  double pass = std::nan("");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % kObservationsAtATime == 0) control.check_stop("stopped while simulating");
    const double time_days = options.start_days + static_cast<double>(i) / (options.rate_hz * kSecondsPerDay);
    if (!region.has_latitude(track.sin_latitude(time_days))) continue;
    const Position position = track.at(time_days);
    if (!region.has_longitude(position.lon_deg)) continue;
    const double pass_here = std::floor(track.argument_of_latitude(time_days) / std::numbers::pi + 0.5);
    if (pass_here != pass) ++number;
    pass = pass_here;
    observations.lon_deg.push_back(position.lon_deg);
    observations.lat_deg.push_back(position.lat_deg);
    observations.time_days.push_back(time_days);
    observations.track.push_back(number);
    observations.platform.push_back(platform);
  }
}

// Fills value[first, last): the truth plus errors that depend on seed and index alone. Returns how many are outliers.
std::size_t observe(const Truth& truth, const SimulateOptions& options, std::size_t first, std::size_t last,
                    Observations& observations) {
  std::vector<UnitVector> points(last - first);
  for (std::size_t i = first; i < last; ++i) points[i - first] = unit_vector({observations.lon_deg[i], observations.lat_deg[i]});
  const std::span<double> values = std::span(observations.value).subspan(first, last - first);
  truth(points, std::span<const double>(observations.time_days).subspan(first, last - first), values);
  const RandomKey noise = {.seed = options.seed, .member = 1, .purpose = Purpose::simulation},
                  outlier = {.seed = options.seed, .member = 2, .purpose = Purpose::simulation};
  std::size_t outliers = 0;
  for (std::size_t i = first; i < last; ++i) {
    double& value = values[i - first];
    value += options.noise_sd * RandomStream(noise, static_cast<std::uint32_t>(i)).normal();
    if (options.outlier_share == 0.0 || std::isnan(value)) continue;
    RandomStream stream(outlier, static_cast<std::uint32_t>(i));
    if (stream.uniform() >= options.outlier_share) continue;
    value += options.outlier_sd * stream.normal();
    ++outliers;
  }
  return outliers;
}

// Leaves out what has no value. Returns how many those were.
std::size_t drop_missing(Observations& observations) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (std::isnan(observations.value[i])) continue;
    observations.lon_deg[kept] = observations.lon_deg[i];
    observations.lat_deg[kept] = observations.lat_deg[i];
    observations.time_days[kept] = observations.time_days[i];
    observations.value[kept] = observations.value[i];
    observations.track[kept] = observations.track[i];
    observations.platform[kept] = observations.platform[i];
    ++kept;
  }
  const std::size_t dropped = observations.size() - kept;
  observations.lon_deg.resize(kept);
  observations.lat_deg.resize(kept);
  observations.time_days.resize(kept);
  observations.value.resize(kept);
  observations.track.resize(kept);
  observations.platform.resize(kept);
  return dropped;
}

// The random numbers' place in their stream has 32 bits.
void check_count(const SimulateOptions& options) {
  const double most = static_cast<double>(options.platforms.size()) * options.days * kSecondsPerDay * options.rate_hz;
  if (most < 4e9) return;
  throw UsageError(fmt::format("simulate: {:g} days at rate_hz {:g} may give {:.2g} observations; at most 4e9 are possible",
                               options.days, options.rate_hz, most));
}

// Share of an orbit, 0 to 1, that lies south of the latitude.
double share_south_of(double sin_latitude, double sin_inclination) {
  return 0.5 + std::asin(std::clamp(sin_latitude / sin_inclination, -1.0, 1.0)) / std::numbers::pi;
}

// By looking once a second, or as often as is still quick.
double seconds_in(const Region& region, const GroundTrack& track, const SimulateOptions& options) {
  constexpr double kMostLooks = 1e7;
  const double rate_hz = std::min(1.0, kMostLooks / (options.days * kSecondsPerDay));
  const std::uint64_t count = count_along(options, rate_hz);
  std::uint64_t inside = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double time_days = options.start_days + static_cast<double>(i) / (rate_hz * kSecondsPerDay);
    if (!region.has_latitude(track.sin_latitude(time_days))) continue;
    if (region.has_longitude(track.at(time_days).lon_deg)) ++inside;
  }
  return static_cast<double>(inside) / rate_hz;
}

}  // namespace

SimulateOptions simulate_defaults() {
  SimulateOptions options;
  options.platforms = simulated_platforms();
  parse_iso_time("2020-03-01", options.start_days);
  options.south_deg = -90.0;
  options.rate_hz = 1.0;
  return options;
}

std::vector<std::string> simulated_platforms() {
  std::vector<std::string> names;
  for (const RepeatOrbit& orbit : known_orbits()) names.push_back(orbit.platform);
  return names;
}

Observations simulate(const Truth& truth, const SimulateOptions& options, SimulateReport* report, const Control& control) {
  check(options);
  check_count(options);
  Observations observations;
  observations.platform_names = options.platforms;
  for (std::size_t p = 0; p < options.platforms.size(); ++p) {
    add_track(options, static_cast<std::uint8_t>(p), control, observations);
  }

  const std::size_t count = observations.time_days.size();
  observations.value.resize(count);
  const int threads = threads_or_all(control.threads != 0 ? control.threads : options.threads);
  std::vector<std::size_t> outliers(static_cast<std::size_t>(threads));
  const auto part = [&](int thread) { return count * static_cast<std::size_t>(thread) / static_cast<std::size_t>(threads); };
  run_on_threads(threads, [&](int thread) {
    const std::size_t begin = part(thread);
    for_blocks(part(thread + 1) - begin, kObservationsAtATime, [&](std::size_t first, std::size_t some) {
      control.check_stop("stopped while simulating");
      outliers[static_cast<std::size_t>(thread)] += observe(truth, options, begin + first, begin + first + some, observations);
    });
  });
  const std::size_t dropped = drop_missing(observations);
  if (report != nullptr) *report = {dropped, std::accumulate(outliers.begin(), outliers.end(), std::size_t{0})};
  return observations;
}

double rate_for(std::size_t observations, const SimulateOptions& options) {
  check(options);
  const Region region(options);
  double seconds = 0.0;
  for (const std::string& platform : options.platforms) {
    const GroundTrack track(orbit_of(platform));
    seconds += options.box ? seconds_in(region, track, options)
                           : (share_south_of(region.sin_north(), track.sin_inclination()) -
                              share_south_of(region.sin_south(), track.sin_inclination())) *
                                 options.days * kSecondsPerDay;
  }
  if (seconds == 0.0) {
    throw UsageError(fmt::format("simulate: no platform crosses this {} in {:g} days", options.box ? "box" : "belt of latitudes",
                                 options.days));
  }
  return static_cast<double>(observations) / seconds;
}

}  // namespace drift
