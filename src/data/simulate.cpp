#include "drift/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "core/threads.h"
#include "data/orbit.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180.0;
constexpr double kSecondsPerDay = 86400.0;

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
  if (options.platforms.empty()) throw UsageError("simulate: no platform is given");
}

const RepeatOrbit& orbit_of(const std::string& platform) {
  for (const RepeatOrbit& orbit : known_orbits()) {
    if (orbit.platform == platform) return orbit;
  }
  throw UsageError(
      fmt::format("simulate: no orbit is known for '{}'; known are {}", platform, fmt::join(simulated_platforms(), ", ")));
}

// Adds positions, times and passes of one platform; a pass runs from pole to pole, so it changes where |latitude| is greatest.
void add_track(const SimulateOptions& options, std::uint8_t platform, Observations& observations) {
  const GroundTrack track(orbit_of(observations.platform_names[platform]));
  const double south = std::sin(options.south_deg * kDegree), north = std::sin(options.north_deg * kDegree);
  const auto count = static_cast<std::uint64_t>(std::ceil(options.days * kSecondsPerDay * options.rate_hz));
  std::int32_t number = observations.track.empty() ? -1 : observations.track.back();
  double pass = std::nan("");
  for (std::uint64_t i = 0; i < count; ++i) {
    const double time_days = options.start_days + static_cast<double>(i) / (options.rate_hz * kSecondsPerDay);
    const double sin_latitude = track.sin_latitude(time_days);
    if (sin_latitude < south || sin_latitude > north) continue;
    const double pass_here = std::floor(track.argument_of_latitude(time_days) / kPi + 0.5);
    if (pass_here != pass) ++number;
    pass = pass_here;
    const Position position = track.at(time_days);
    observations.lon_deg.push_back(position.lon_deg);
    observations.lat_deg.push_back(position.lat_deg);
    observations.time_days.push_back(time_days);
    observations.track.push_back(number);
    observations.platform.push_back(platform);
  }
}

// Fills value[first, last): the truth plus noise that depends on seed and index alone.
void observe(const Truth& truth, const SimulateOptions& options, std::size_t first, std::size_t last,
             Observations& observations) {
  std::vector<UnitVector> points(last - first);
  for (std::size_t i = first; i < last; ++i) points[i - first] = unit_vector({observations.lon_deg[i], observations.lat_deg[i]});
  const std::span<double> values = std::span(observations.value).subspan(first, last - first);
  truth(points, std::span<const double>(observations.time_days).subspan(first, last - first), values);
  const RandomKey key = {.seed = options.seed, .member = 1, .purpose = Purpose::simulation};
  for (std::size_t i = first; i < last; ++i) {
    values[i - first] += options.noise_sd * RandomStream(key, static_cast<std::uint32_t>(i)).normal();
  }
}

// Share of an orbit, 0 to 1, that lies south of the latitude.
double share_south_of(double sin_latitude, double sin_inclination) {
  return 0.5 + std::asin(std::clamp(sin_latitude / sin_inclination, -1.0, 1.0)) / kPi;
}

}  // namespace

std::vector<std::string> simulated_platforms() {
  std::vector<std::string> names;
  for (const RepeatOrbit& orbit : known_orbits()) names.push_back(orbit.platform);
  return names;
}

Observations simulate(const Truth& truth, const SimulateOptions& options) {
  check(options);
  Observations observations;
  observations.platform_names = options.platforms;
  for (std::size_t p = 0; p < options.platforms.size(); ++p) add_track(options, static_cast<std::uint8_t>(p), observations);

  const std::size_t count = observations.time_days.size();
  observations.value.resize(count);
  const int threads = options.threads > 0 ? options.threads : available_threads();
  const auto part = [&](int thread) { return count * static_cast<std::size_t>(thread) / static_cast<std::size_t>(threads); };
  run_on_threads(threads, [&](int thread) { observe(truth, options, part(thread), part(thread + 1), observations); });
  return observations;
}

double rate_for(std::size_t observations, const SimulateOptions& options) {
  check(options);
  double seconds = 0.0;
  for (const std::string& platform : options.platforms) {
    const double sin_inclination = GroundTrack(orbit_of(platform)).sin_inclination();
    const double share = share_south_of(std::sin(options.north_deg * kDegree), sin_inclination) -
                         share_south_of(std::sin(options.south_deg * kDegree), sin_inclination);
    seconds += share * options.days * kSecondsPerDay;
  }
  if (seconds == 0.0) throw UsageError("simulate: no platform flies between these latitudes");
  return static_cast<double>(observations) / seconds;
}

}  // namespace drift
