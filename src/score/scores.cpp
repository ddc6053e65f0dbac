#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

constexpr std::array<double, 5> kLevels = {0.5, 0.8, 0.9, 0.95, 0.99};

double mean_of(std::span<const double> numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

Scores::Interval interval_at(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double level) {
  return {level, coverage(y, mean, sd, level), 2.0 * normal_quantile(0.5 + 0.5 * level) * mean_of(sd)};
}

}  // namespace

Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                      const Control& control) {
  Scores scores;
  scores.count = y.size();
  scores.rmse = rmse(y, mean);
  scores.mae = mean_absolute_error(y, mean);
  scores.rmae = std::sqrt(scores.mae);
  for (std::size_t i = 0; i < y.size(); ++i) scores.bias += (mean[i] - y[i]) / static_cast<double>(y.size());
  if (sd.empty()) return scores;
  control.check_stop();
  scores.crps = mean_crps(y, mean, sd);
  control.check_stop();
  scores.nll = mean_nll(y, mean, sd);
  scores.interval_score95 = mean_interval_score(y, mean, sd, 0.05);
  scores.mean_sd = mean_of(sd);
  const auto at = [&](double level) {
    control.check_stop();
    return interval_at(y, mean, sd, level);
  };
  for (const double level : kLevels) scores.intervals.push_back(at(level));
  for (int twentieth = 1; twentieth < 20; ++twentieth) scores.reliability.push_back(at(0.05 * twentieth));
  return scores;
}

Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                      const std::function<double(double level)>& reach, const Control& control) {
  Scores scores = score_forecast(y, mean, sd, control);
  if (sd.empty()) return scores;
  const auto count = static_cast<double>(y.size());
  const auto measure = [&](Scores::Interval& interval) {
    control.check_stop();
    const double factor = reach(interval.level);
    double inside = 0.0, width = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      inside += std::abs(y[i] - mean[i]) <= factor * sd[i] ? 1.0 : 0.0;
      width += 2.0 * factor * sd[i];
    }
    interval = {interval.level, inside / count, width / count};
  };
  for (Scores::Interval& interval : scores.intervals) measure(interval);
  for (Scores::Interval& interval : scores.reliability) measure(interval);
  const double factor = reach(0.95);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    sum += interval_score(y[i], mean[i] - factor * sd[i], mean[i] + factor * sd[i], 0.05);
  }
  scores.interval_score95 = sum / count;
  return scores;
}

Scores score_intervals(std::span<const double> y, std::span<const double> mean, std::span<const double> low,
                       std::span<const double> high, double level) {
  if (low.size() != y.size() || high.size() != y.size()) {
    throw UsageError(fmt::format("interval scores: {} values but {} and {} ends", y.size(), low.size(), high.size()));
  }
  const double reach = normal_quantile(0.5 + 0.5 * level), alpha = 1.0 - level;
  std::vector<double> sd;
  double score = 0.0, inside = 0.0, width = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!(low[i] < high[i])) throw UsageError(fmt::format("interval scores: interval {} runs from {} to {}", i, low[i], high[i]));
    sd.push_back((high[i] - low[i]) / (2.0 * reach));
    score += interval_score(y[i], low[i], high[i], alpha);
    inside += y[i] >= low[i] && y[i] <= high[i] ? 1.0 : 0.0;
    width += high[i] - low[i];
  }
  Scores scores = score_forecast(y, mean, sd);
  const auto count = static_cast<double>(y.size());
  for (Scores::Interval& interval : scores.intervals) {
    if (interval.level == level) interval = {level, inside / count, width / count};
  }
  if (level == 0.95) scores.interval_score95 = score / count;
  return scores;
}

std::string to_json(const Scores& scores) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json = {{"count", scores.count},
                                 {"bias", scores.bias},
                                 {"rmse", scores.rmse},
                                 {"mae", scores.mae},
                                 {"rmae", scores.rmae},
                                 {"crps", number(scores.crps)},
                                 {"nll", number(scores.nll)},
                                 {"interval_score95", number(scores.interval_score95)},
                                 {"mean_sd", number(scores.mean_sd)}};
  for (const char* what : {"coverage", "width"}) {
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      const std::string key = fmt::format("{}{:.0f}", what, 100.0 * kLevels.at(i));
      if (scores.intervals.empty())
        json[key] = nullptr;
      else
        json[key] = what[0] == 'c' ? scores.intervals[i].share : scores.intervals[i].mean_width;
    }
  }
  json["reliability"] = nlohmann::ordered_json::array();
  for (const Scores::Interval& interval : scores.reliability) json["reliability"].push_back({interval.level, interval.share});
  return json.dump();
}

}  // namespace drift
