#include <array>
#include <nlohmann/json.hpp>

#include "drift/score.h"

namespace drift {
namespace {

constexpr std::array<double, 5> kLevels = {0.5, 0.8, 0.9, 0.95, 0.99};

}  // namespace

Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd) {
  Scores scores;
  scores.count = y.size();
  scores.rmse = rmse(y, mean);
  scores.mae = mean_absolute_error(y, mean);
  for (std::size_t i = 0; i < y.size(); ++i) scores.bias += (mean[i] - y[i]) / static_cast<double>(y.size());
  if (sd.empty()) return scores;
  scores.crps = mean_crps(y, mean, sd);
  scores.nll = mean_nll(y, mean, sd);
  double sum = 0.0;
  for (const double s : sd) sum += s;
  scores.mean_sd = sum / static_cast<double>(sd.size());
  for (const double level : kLevels) scores.coverage.push_back({level, coverage(y, mean, sd, level)});
  return scores;
}

std::string to_json(const Scores& scores) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json = {{"count", scores.count},        {"bias", scores.bias},
                                 {"rmse", scores.rmse},          {"mae", scores.mae},
                                 {"crps", number(scores.crps)},  {"nll", number(scores.nll)},
                                 {"mean_sd", number(scores.mean_sd)}};
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const std::string key = "coverage" + std::to_string(static_cast<int>(100.0 * kLevels.at(i) + 0.5));
    json[key] = scores.coverage.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(scores.coverage[i].share);
  }
  return json.dump();
}

}  // namespace drift
