#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/blocks.h"
#include "core/longitude.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "fields/training_sample.h"
#include "fitting/judge.h"

namespace drift {
namespace {

std::string region_name(double lon_deg, double lat_deg) {
  constexpr double kSide = 30.0;
  const double west = kSide * std::floor(wrapped_longitude(lon_deg) / kSide);
  const double south = std::min(kSide * std::floor(lat_deg / kSide), 90.0 - kSide);
  const auto name = [](double at, char positive, char negative) {
    return fmt::format("{:g}{}", std::abs(at), at < 0.0 ? negative : positive);
  };
  return fmt::format("{} to {}, {} to {}", name(south, 'N', 'S'), name(south + kSide, 'N', 'S'), name(west, 'E', 'W'),
                     name(west + kSide, 'E', 'W'));
}

// The group's name, one an observation; empty where there are no groups.
std::vector<std::string> group_names(const FieldModel& model, const Observations& o, ScoreGroups groups, const Control& control) {
  std::vector<std::string> names;
  if (groups == ScoreGroups::platform && o.platform.empty()) return names;
  if (groups == ScoreGroups::day && (o.time_days.empty() || !model.info.calendar_time)) {
    throw UsageError("scores by day need dates, in the observations and in the model");
  }
  if (groups == ScoreGroups::region && model.domain.kind == DomainKind::xy)
    throw UsageError("scores by region need longitudes and latitudes");
  for (std::size_t i = 0; groups != ScoreGroups::none && i < o.size(); ++i) {
    if (i % kPointsAtATime == 0) control.check_stop();
    if (groups == ScoreGroups::platform) names.push_back(o.platform_names[o.platform[i]]);
    if (groups == ScoreGroups::day) names.push_back(iso_time(std::floor(o.time_days[i])));
    if (groups == ScoreGroups::region) names.push_back(region_name(o.lon_deg[i], o.lat_deg[i]));
  }
  return names;
}

Forecast part(const Forecast& all, const std::vector<std::size_t>& rows) {
  Forecast some;
  for (const std::size_t row : rows) {
    some.y.push_back(all.y[row]);
    some.mean.push_back(all.mean[row]);
    some.noise_sd.push_back(all.noise_sd[row]);
    if (!all.sd_epistemic.empty()) some.sd_epistemic.push_back(all.sd_epistemic[row]);
  }
  return some;
}

}  // namespace

ModelScores score_model(Engine& engine, const FieldModel& model, const Dataset& data, ScoreGroups groups,
                        const Control& control) {
  const Observations& observations = data.observations;
  if (observations.size() == 0) throw Error("there are no observations to score");
  check_goes_with(model, data);
  const bool sigmas = run_settings_from_toml(model.settings, "the model's settings").uncertainty.noise == NoiseSource::sigma &&
                      !observations.sigma.empty();
  std::vector<std::size_t> rows(observations.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Forecast all = forecast(engine, model, observations, rows, sigmas, control);
  ModelScores scores;
  scores.trained_share = share_that_trained(model.training_sample, observations);
  scores.all = score(model, all, control);
  scores.furthest_days = furthest_outside(model.info, observations.time_days);
  FarCounter far(model);
  far.add(observations.lon_deg, observations.lat_deg, control);
  scores.far = far.result();
  std::map<std::string, std::vector<std::size_t>> rows_of;
  const std::vector<std::string> names = group_names(model, observations, groups, control);
  for (std::size_t i = 0; i < names.size(); ++i) rows_of[names[i]].push_back(i);
  for (const auto& [name, members] : rows_of) scores.groups.emplace_back(name, score(model, part(all, members), control));
  return scores;
}

}  // namespace drift
