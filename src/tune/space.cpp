#include "tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "drift/error.h"

namespace drift {
namespace {

bool is_whole(const Setting& setting) { return setting.kind == SettingKind::whole || setting.kind == SettingKind::log_whole; }
bool is_log(const Setting& setting) { return setting.kind == SettingKind::log_real || setting.kind == SettingKind::log_whole; }

// The settings' values at 0 and 1 of the cube, before logarithms.
std::pair<double, double> ends(const Setting& setting) {
  if (setting.kind == SettingKind::choice) return {-0.5, static_cast<double>(setting.words.size()) - 0.5};
  if (is_whole(setting)) return {setting.low - 0.5, setting.high + 0.5};
  return {setting.low, setting.high};
}

double to_unit(const Setting& setting, double value) {
  auto [low, high] = ends(setting);
  if (is_log(setting)) {
    low = std::log(low);
    high = std::log(high);
    value = std::log(value);
  }
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

double cut(const Setting& setting, double value) {
  if (setting.kind == SettingKind::choice) {
    return std::clamp(std::round(value), 0.0, static_cast<double>(setting.words.size()) - 1.0);
  }
  return std::clamp(is_whole(setting) ? std::round(value) : value, setting.low, setting.high);
}

double from_unit(const Setting& setting, double unit) {
  const auto [low, high] = ends(setting);
  unit = std::clamp(unit, 0.0, 1.0);
  const double value = is_log(setting) ? std::exp(std::log(low) + unit * (std::log(high) - std::log(low)))  //
                                       : low + unit * (high - low);
  return cut(setting, value);
}

void check_words(const Setting& setting) {
  if (setting.words.size() < 2) {
    throw UsageError(
        fmt::format("setting \"{}\": a choice needs two words or more, {} given", setting.name, setting.words.size()));
  }
  for (std::size_t i = 0; i < setting.words.size(); ++i) {
    if (std::count(setting.words.begin(), setting.words.end(), setting.words[i]) > 1) {
      throw UsageError(fmt::format("setting \"{}\": the word \"{}\" is listed twice", setting.name, setting.words[i]));
    }
  }
}

void check_range(const Setting& setting) {
  const double low = setting.low;
  const double high = setting.high;
  if (!std::isfinite(low) || !std::isfinite(high) || low >= high) {
    throw UsageError(fmt::format("setting \"{}\": the range {} to {} is empty or infinite; give two numbers, the smaller first",
                                 setting.name, low, high));
  }
  if (is_log(setting) && low <= 0.0) {
    throw UsageError(fmt::format("setting \"{}\": a logarithmic range must begin above 0, not at {}", setting.name, low));
  }
  if (is_whole(setting) && (low != std::round(low) || high != std::round(high) || std::abs(low) > 1e9 || high > 1e9)) {
    throw UsageError(fmt::format("setting \"{}\": its range is {} to {}, but its ends must be whole numbers within a billion",
                                 setting.name, low, high));
  }
}

}  // namespace

void check_space(const SearchSpace& space) {
  if (space.empty()) throw UsageError("the search has no settings: name at least one");
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].name.empty()) throw UsageError(fmt::format("setting {} of the search has no name", i));
    for (std::size_t j = 0; j < i; ++j) {
      if (space[i].name == space[j].name) throw UsageError(fmt::format("setting \"{}\" is named twice", space[i].name));
    }
    if (space[i].kind == SettingKind::choice) {
      check_words(space[i]);
    } else {
      check_range(space[i]);
    }
  }
}

void check_point(const SearchSpace& space, const Point& point) {
  if (point.size() != space.size()) {
    throw UsageError(fmt::format("the point has {} values but the space {} settings", point.size(), space.size()));
  }
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!std::isfinite(point[i]) || cut(space[i], point[i]) != point[i]) {
      const auto [low, high] = space[i].kind == SettingKind::choice
                                   ? std::pair(0.0, static_cast<double>(space[i].words.size()) - 1.0)
                                   : std::pair(space[i].low, space[i].high);
      throw UsageError(fmt::format("setting \"{}\": {} is not {} from {} to {}", space[i].name, point[i],
                                   is_discrete(space[i]) ? "a whole number" : "a number", low, high));
    }
  }
}

std::string describe(const SearchSpace& space, const Point& point) {
  std::string text;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (i > 0) text += ", ";
    text += space[i].kind == SettingKind::choice
                ? fmt::format("{} {}", space[i].name, space[i].words.at(static_cast<std::size_t>(point.at(i))))
                : fmt::format("{} {:.4g}", space[i].name, point.at(i));
  }
  return text;
}

Eigen::VectorXd to_cube(const SearchSpace& space, const Point& point) {
  Eigen::VectorXd place(static_cast<Eigen::Index>(space.size()));
  for (std::size_t i = 0; i < space.size(); ++i) place[static_cast<Eigen::Index>(i)] = to_unit(space[i], point[i]);
  return place;
}

Point from_cube(const SearchSpace& space, const Eigen::VectorXd& place) {
  Point point(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) point[i] = from_unit(space[i], place[static_cast<Eigen::Index>(i)]);
  return point;
}

Eigen::VectorXd snap(const SearchSpace& space, const Eigen::VectorXd& place) {
  Eigen::VectorXd snapped = place.cwiseMax(0.0).cwiseMin(1.0);
  for (std::size_t i = 0; i < space.size(); ++i) {
    double& unit = snapped[static_cast<Eigen::Index>(i)];
    if (is_discrete(space[i])) unit = to_unit(space[i], from_unit(space[i], unit));
  }
  return snapped;
}

bool is_discrete(const Setting& setting) { return setting.kind == SettingKind::choice || is_whole(setting); }

double count_of_values(const Setting& setting) {
  if (!is_discrete(setting)) return std::numeric_limits<double>::infinity();
  const auto [low, high] = ends(setting);
  return high - low;
}

}  // namespace drift
