// Truths by name.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "drift/truth.h"

namespace drift {
namespace {

constexpr std::string_view kSynthetic = "synthetic";
constexpr std::string_view kAboveGeoid = " - geoid";  // after a file's name

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t first = 0, end = 0; end != std::string_view::npos; first = end + 1) {
    end = text.find_first_of(separators, first);
    parts.push_back(text.substr(first, end == std::string_view::npos ? end : end - first));
  }
  return parts;
}

// The first part may be the seed, all others are KEY=VALUE.
SyntheticFieldOptions parse_parts(const std::vector<std::string_view>& parts, std::uint64_t default_seed) {
  constexpr std::array<std::string_view, 2> kKeys = {"evolution", "velocity"};
  SyntheticFieldOptions options = {.seed = default_seed};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      const auto seed = i == 0 ? parse_number<std::uint64_t>(part) : std::nullopt;
      options.seed = seed.value_or(0);
      if (seed) continue;
      throw UsageError(i == 0 ? fmt::format("after synthetic: comes the seed, a whole number, and not '{}'", part)
                              : fmt::format("'{}' is not evolution=DAYS or velocity=EAST:NORTH", part));
    }
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == kKeys[0]) {
      options.evolution_days = parse_number<double>(value).value_or(-1.0);
      if (options.evolution_days < 0.0) {
        throw UsageError(fmt::format("evolution '{}' is not a number of days, zero or more", value));
      }
    } else if (key == kKeys[1]) {
      options.velocity = parse_velocity(std::string(value));
    } else {
      throw UsageError(fmt::format("a synthetic field has no '{}'{}", key, did_you_mean(std::string(key), kKeys)));
    }
  }
  return options;
}

// Heights above the ellipsoid, less those of the geoid.
NamedTruth above_geoid(NamedTruth heights) {
  if (!heights.info.unit.empty() && heights.info.unit != "m")
    throw UsageError(
        fmt::format("truth '{}': the geoid is in m and cannot be subtracted from {}", heights.info.name, heights.info.unit));
  NamedTruth out = {.truth = {}, .info = heights.info, .time_days = heights.time_days};
  out.info.long_name = (out.info.long_name.empty() ? out.info.name : out.info.long_name) + " above the geoid";
  out.info.standard_name = "sea_surface_height_above_geoid";
  out.truth = [above = std::move(heights.truth), geoid = geoid_truth().truth](auto points, auto times, auto values) {
    std::vector<double> undulation(values.size());
    above(points, times, values);
    geoid(points, times, undulation);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= undulation[i];
  };
  return out;
}

}  // namespace

FieldVelocity parse_velocity(const std::string& text) {
  const std::vector<std::string_view> parts = parts_of(text, ":,");
  std::array<double, 4> numbers = {};
  bool good = parts.size() == 2 || parts.size() == 4;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const auto number = parse_number<double>(parts[i]);
    good = number.has_value();
    numbers.at(i) = number.value_or(0.0);
  }
  if (!good) {
    throw UsageError(
        fmt::format("velocity '{}' is not EAST,NORTH or EAST,NORTH,LON,LAT, in km per day at that place in degrees", text));
  }
  const FieldVelocity velocity = {numbers[0], numbers[1], {numbers[2], numbers[3]}};
  if (!(std::abs(velocity.at.lat_deg) < 90.0)) {
    throw UsageError(
        fmt::format("velocity '{}': its latitude must be between -90 and 90, as no direction is east at a pole", text));
  }
  return velocity;
}

bool names_synthetic(const std::string& text) {
  return text.starts_with(kSynthetic) && (text.size() == kSynthetic.size() || text[kSynthetic.size()] == ':');
}

bool names_truth_file(const std::string& text) { return !names_synthetic(text) && text.find_first_of("./") != std::string::npos; }

SyntheticFieldOptions parse_synthetic(const std::string& text, std::uint64_t default_seed) {
  if (!names_synthetic(text)) throw UsageError(fmt::format("truth '{}' is not synthetic[:SEED]...", text));
  if (text.size() == kSynthetic.size()) return {.seed = default_seed};
  try {
    return parse_parts(parts_of(std::string_view(text).substr(kSynthetic.size() + 1), ","), default_seed);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("truth '{}': {}", text, error.what()));
  }
}

std::string to_text(const SyntheticFieldOptions& options) {
  std::string text = fmt::format("{}:{}", kSynthetic, options.seed);
  if (options.evolution_days > 0.0) text += fmt::format(",evolution={}", options.evolution_days);
  const FieldVelocity& velocity = options.velocity;
  if (velocity.still()) return text;
  text += fmt::format(",velocity={}:{}", velocity.east_km_per_day, velocity.north_km_per_day);
  if (velocity.at.lon_deg != 0.0 || velocity.at.lat_deg != 0.0) {
    text += fmt::format(":{}:{}", velocity.at.lon_deg, velocity.at.lat_deg);
  }
  return text;
}

NamedTruth open_truth(const std::string& text, std::uint64_t default_seed, const Control& control) {
  control.check_stop();
  if (text == "geoid") return geoid_truth();
  if (names_synthetic(text)) return synthetic_truth(parse_synthetic(text, default_seed));
  const auto exists = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  if (exists(text)) return truth_from_file(text, {}, control);
  if (text.ends_with(kAboveGeoid))
    return above_geoid(open_truth(text.substr(0, text.size() - kAboveGeoid.size()), default_seed, control));
  const std::size_t colon = text.rfind(':');
  const std::string name = text.substr(0, colon);
  if (colon != std::string::npos && exists(name)) return truth_from_file(name, text.substr(colon + 1), control);
  if (!names_truth_file(text)) {
    throw UsageError(fmt::format(
        "truth '{}': there is no such file{}", text,
        did_you_mean(name.substr(0, name.find_first_of(":,")), std::array<std::string_view, 2>{"geoid", kSynthetic})));
  }
  return truth_from_file(text, {}, control);  // says what is wrong with it
}

}  // namespace drift
