#include "drift/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "drift/error.h"
#include "run/training_rows.h"

namespace drift {
namespace {

constexpr const char* kFingerprintKey = "fingerprint";
constexpr std::size_t kBlock = 65536;  // observations predicted at a time

void say(const FitControl& control, const std::string& text) {
  if (control.say) control.say(text);
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The checkpoint's ensemble and state, where there is one of this very run.
void take_up(const FitPlan& plan, const FitControl& control, Ensemble& ensemble, TrainingState& state) {
  if (control.checkpoint.empty() || control.fresh || !std::filesystem::exists(control.checkpoint)) return;
  Checkpoint checkpoint = load_checkpoint(control.checkpoint);
  const auto found = checkpoint.metadata.find(kFingerprintKey);
  if (found == checkpoint.metadata.end() || found->second != plan.fingerprint) {
    throw UsageError(fmt::format("{}: this checkpoint is of another run (other settings or other observations); repeat that run to "
                                 "finish it, or begin anew with --fresh",
                                 control.checkpoint.string()));
  }
  ensemble = std::move(checkpoint.ensemble);
  state = std::move(checkpoint.state);
  const auto fewer = [](const MemberProgress& a, const MemberProgress& b) { return a.step < b.step; };
  const auto least = std::min_element(state.members.begin(), state.members.end(), fewer);
  say(control, fmt::format("Resuming from {}: {} steps a network are done.", control.checkpoint.string(),
                           least == state.members.end() ? 0 : least->step));
}

// Smallest box around the positions; longitudes by the widest empty gap between them, to a tenth of a degree.
std::array<double, 4> extent_of(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows) {
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
  constexpr int kBins = 3600;
  std::vector<bool> taken(kBins, false);
  for (const std::size_t row : rows) {
    const double x = observations.lon_deg[row], y = observations.lat_deg[row];
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    if (domain.kind == DomainKind::xy) continue;
    const double turns = (x + 180.0) / 360.0;
    taken[static_cast<std::size_t>((turns - std::floor(turns)) * kBins) % kBins] = true;
  }
  if (domain.kind == DomainKind::xy) return {x0, y0, x1, y1};
  int widest = 0, end = 0, empty = 0;  // the gap that ends before bin `end`
  for (int i = 0; i < 2 * kBins; ++i) {
    empty = taken[static_cast<std::size_t>(i % kBins)] ? 0 : empty + 1;
    if (empty > widest) widest = empty, end = i + 1;
  }
  if (widest == 0) return {-180.0, y0, 180.0, y1};
  const auto degrees = [](int bin) { return -180.0 + 0.1 * (bin % kBins); };
  const double west = degrees(end), east = degrees(end + kBins - widest);
  return {west, y0, east == -180.0 ? 180.0 : east, y1};
}

FieldInfo describe(const FitPlan& plan, const Reading& reading) {
  FieldInfo info;
  info.value = reading.report.value;
  if (info.value.name.empty()) info.value.name = reading.report.roles.value;
  info.has_time = plan.spec.temporal.layers > 0;
  info.calendar_time = reading.report.calendar_time;
  info.training = plan.split.training.size();
  info.extent = extent_of(plan.domain, reading.observations, plan.split.training);
  if (info.has_time) {
    info.first_time_days = INFINITY, info.last_time_days = -INFINITY;
    for (const std::size_t row : plan.split.training) {
      info.first_time_days = std::min(info.first_time_days, reading.observations.time_days[row]);
      info.last_time_days = std::max(info.last_time_days, reading.observations.time_days[row]);
    }
  }
  return info;
}

struct Forecast {
  std::vector<double> y, mean, sd_epistemic;
};

Forecast forecast(Engine& engine, const FieldModel& model, const Observations& observations, std::span<const std::size_t> rows) {
  Forecast out;
  std::vector<double> lon, lat, time;
  for (std::size_t first = 0; first < rows.size(); first += kBlock) {
    lon.clear(), lat.clear(), time.clear();
    for (std::size_t i = first; i < std::min(first + kBlock, rows.size()); ++i) {
      lon.push_back(observations.lon_deg[rows[i]]);
      lat.push_back(observations.lat_deg[rows[i]]);
      if (model.info.has_time) time.push_back(observations.time_days[rows[i]]);
      out.y.push_back(observations.value[rows[i]]);
    }
    const FieldPrediction block = predict_field(engine, model, lon, lat, time);
    out.mean.insert(out.mean.end(), block.mean.begin(), block.mean.end());
    out.sd_epistemic.insert(out.sd_epistemic.end(), block.sd_epistemic.begin(), block.sd_epistemic.end());
  }
  return out;
}

std::vector<double> total_sd(const FieldModel& model, const Forecast& forecast) {
  std::vector<double> sd;
  const double least = 1e-9 * model.domain.value.sd;  // a density needs some spread
  for (const double s : forecast.sd_epistemic) sd.push_back(std::max(std::hypot(s, model.info.noise_sd), least));
  return sd;
}

// What is left of the residuals' size when the field's own uncertainty is taken away. With outliers about (the Huber loss) by the
// median, which they do not move.
double estimate_noise(const Forecast& forecast, bool robust) {
  std::vector<double> squares;
  double spread = 0.0;
  for (std::size_t i = 0; i < forecast.y.size(); ++i) {
    squares.push_back(std::pow(forecast.y[i] - forecast.mean[i], 2));
    if (!forecast.sd_epistemic.empty()) spread += std::pow(forecast.sd_epistemic[i], 2) / static_cast<double>(forecast.y.size());
  }
  double size = std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
  if (robust) {
    constexpr double kMedianOfChiSquare = 0.454936423119572;
    const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
    std::nth_element(squares.begin(), middle, squares.end());
    size = *middle / kMedianOfChiSquare;
  }
  return std::sqrt(std::max(0.0, size - spread));
}

// Rows of which the noise is judged: the held-out ones, or some that trained where there are none.
std::vector<std::size_t> judging_rows(const Split& split) {
  if (!split.held_out.empty()) return split.held_out;
  constexpr std::size_t kEnough = 20000;
  std::vector<std::size_t> rows;
  const std::size_t stride = std::max<std::size_t>(1, split.training.size() / kEnough);
  for (std::size_t i = 0; i < split.training.size(); i += stride) rows.push_back(split.training[i]);
  return rows;
}

void judge(Engine& engine, const FitPlan& plan, const Observations& observations, FitResult& result) {
  const bool held_out = !plan.split.held_out.empty();
  const Forecast residuals = forecast(engine, result.model, observations, judging_rows(plan.split));
  result.model.info.noise_sd =
      plan.settings.uncertainty.noise_sd.value_or(estimate_noise(residuals, plan.recipe.loss == LossKind::huber));
  if (!held_out) return;
  result.held_out = score_forecast(residuals.y, residuals.mean, total_sd(result.model, residuals));
  result.model.scores = to_json(*result.held_out);
}

}  // namespace

FitResult fit(const FitPlan& plan, const Reading& reading, const FitControl& control) {
  const std::unique_ptr<Engine> engine = make_cpu_engine({.threads = plan.settings.threads});
  Ensemble ensemble;
  TrainingState state;
  take_up(plan, control, ensemble, state);
  if (ensemble.members.empty()) ensemble = draw_ensemble(plan.spec, plan.settings.seed, plan.members);

  FitResult result;
  result.steps = total_steps(plan.recipe, plan.split.training.size());
  {
    const TrainingRows rows = training_rows(plan.domain, reading.observations, plan.split.training, plan.spec.temporal.layers > 0);
    TrainOptions options;
    options.control = {.progress = control.progress, .stop = control.stop};
    options.checkpoint = control.checkpoint;
    options.checkpoint_every_s = plan.settings.train.checkpoint_every_s;
    options.metadata = {{kFingerprintKey, plan.fingerprint}};
    const double begun = seconds_now();
    result.finished = train(*engine, ensemble, state, rows.view(), plan.recipe, options);
    result.train_s = seconds_now() - begun;
  }
  if (!result.finished) return result;
  result.model.ensemble = std::move(ensemble);
  result.model.domain = plan.domain;
  result.model.info = describe(plan, reading);
  result.model.cells = data_cells(plan.domain, reading.observations, std::span<const std::size_t>(plan.split.training));
  result.model.settings = to_toml(plan.settings);
  judge(*engine, plan, reading.observations, result);
  return result;
}

ModelScores score_model(Engine& engine, const FieldModel& model, const Observations& observations) {
  if (observations.size() == 0) throw Error("there are no observations to score");
  if (model.info.has_time && observations.time_days.empty()) {
    throw UsageError("the model varies in time but the observations have none; name their time with --time");
  }
  std::vector<std::size_t> rows(observations.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Forecast all = forecast(engine, model, observations, rows);
  const std::vector<double> sd = model.has_spread() ? total_sd(model, all) : std::vector<double>();
  ModelScores scores;
  scores.all = score_forecast(all.y, all.mean, sd);
  for (std::size_t p = 0; p < observations.platform_names.size(); ++p) {
    std::vector<double> y, mean, spread;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (observations.platform[i] != p) continue;
      y.push_back(all.y[i]);
      mean.push_back(all.mean[i]);
      if (!sd.empty()) spread.push_back(sd[i]);
    }
    if (!y.empty()) scores.by_platform.emplace_back(observations.platform_names[p], score_forecast(y, mean, spread));
  }
  return scores;
}

}  // namespace drift
