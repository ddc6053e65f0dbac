#include "fitting/check_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "drift/error.h"
#include "drift/interpolator.h"
#include "fitting/domain_words.h"
#include "fitting/inverse_distance.h"
#include "fitting/method_data.h"
#include "fitting/training_rows.h"

namespace drift {
namespace {

constexpr const char* kKriging = "nngp";
constexpr std::size_t kMostTargets = 4000, kMostSources = 50000, kTrainedRows = 1000;

// Every k-th, at most `most`.
std::vector<std::size_t> every_few(std::size_t count, std::size_t most) {
  const std::size_t stride = std::max<std::size_t>(1, (count + most - 1) / most);
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < count; i += stride) some.push_back(i);
  return some;
}

double root_mean_square_error(const Forecast& forecast, std::span<const std::size_t> of) {
  double sum = 0.0;
  for (const std::size_t i : of) sum += std::pow(forecast.y[i] - forecast.mean[i], 2);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, of.size())));
}

// Observations as the baseline takes them, some of `rows`.
struct BaselineRows {
  TrainingRows engine;
  std::vector<double> values;
  std::vector<std::uint8_t> fold;

  BaselineRows(const FitPlan& plan, const Observations& observations, const std::vector<std::size_t>& rows)
      : engine(training_rows(plan.domain, observations, rows, plan.spec.temporal.layers > 0, plan.settings.threads)) {
    for (const std::size_t row : rows) values.push_back(observations.value[row]);
  }
  MatrixView<const float> coordinates() const { return {engine.coordinates.data(), values.size(), engine.columns}; }
};

// Of a nearest-neighbour process with few neighbours, which takes a second or two; a model with a process has a better one of its
// own. None: it cannot be fitted to these observations.
std::optional<double> kriging_rmse(const FitPlan& plan, const Observations& observations, const std::vector<std::size_t>& sources,
                                   const BaselineRows& targets) {
  FitPlan few = plan;
  few.split.training = sources;
  few.folds = {};
  const MethodData data = method_data(few, observations);
  std::vector<double> mean(targets.values.size());
  try {
    const std::unique_ptr<Interpolator> method =
        make_interpolator(fmt::format("{}:neighbours=32,subset=1000", kKriging), plan.domain);
    method->fit(data.view(), interpolator_options(plan.settings));
    method->predict(targets.coordinates(), {.mean = mean});
  } catch (const Error&) {
    return std::nullopt;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < mean.size(); ++i) sum += std::pow(plan.domain.value.from_engine(mean[i]) - targets.values[i], 2);
  return std::sqrt(sum / static_cast<double>(mean.size()));
}

// Distances of `of` (places in scored) to the data, and the baseline's score beside the model's.
std::vector<double> compare_with_baseline(const FitPlan& plan, const Observations& observations, const Scored& scored,
                                          const std::vector<std::size_t>& of, FitResult& result) {
  const std::vector<std::size_t>& training = plan.split.training;
  std::vector<std::size_t> sources, targets;
  const std::vector<std::size_t> places = every_few(training.size(), kMostSources);
  for (const std::size_t place : places) sources.push_back(training[place]);
  for (const std::size_t i : of) targets.push_back(scored.rows[i]);
  BaselineRows from(plan, observations, sources), to(plan, observations, targets);
  // Out of fold the scored rows are among those that train: like the model, the baseline does without their folds.
  if (plan.out_of_fold && plan.test.empty()) {
    for (const std::size_t place : places) from.fold.push_back(plan.folds.of[place]);
    for (const std::size_t row : targets) {
      const auto at = std::lower_bound(training.begin(), training.end(), row) - training.begin();
      to.fold.push_back(plan.folds.of[static_cast<std::size_t>(at)]);
    }
  }
  DistanceForecast found = forecast_by_distance({from.coordinates(), plan.spec.temporal.layers > 0, from.values, from.fold},
                                                {to.coordinates(), to.values, to.fold}, plan.settings.threads);
  result.baseline = {found.rmse, root_mean_square_error(scored.forecast, of), of.size()};
  if (!result.model.process && !result.model.method_text.starts_with(kKriging)) {
    result.baseline->kriging_rmse = kriging_rmse(plan, observations, sources, to);
  }
  return std::move(found.nearest);
}

Forecast some_of(const Forecast& forecast, const std::vector<std::size_t>& of) {
  Forecast some;
  for (const std::size_t i : of) {
    some.y.push_back(forecast.y[i]), some.mean.push_back(forecast.mean[i]);
    if (!forecast.sd_epistemic.empty()) some.sd_epistemic.push_back(forecast.sd_epistemic[i]);
  }
  return some;
}

// Of the networks on observations that trained them, in the values' unit. In an ensemble with folds most of its members saw each.
double trained_rmse(Engine& engine, const FitPlan& plan, const Observations& observations, const Ensemble& ensemble) {
  std::vector<std::size_t> rows;
  for (const std::size_t place : every_few(plan.split.training.size(), kTrainedRows)) rows.push_back(plan.split.training[place]);
  const TrainingRows some = training_rows(plan.domain, observations, rows, plan.spec.temporal.layers > 0, plan.settings.threads);
  std::vector<float> mean(rows.size());
  engine.predict(ensemble, some.view().coordinates, {.mean = MatrixView<float>(mean.data(), mean.size(), 1)});
  double sum = 0.0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    sum += std::pow(static_cast<double>(some.values[i]) - static_cast<double>(mean[i]), 2);
  return plan.domain.value.sd * std::sqrt(sum / static_cast<double>(mean.size()));
}

// Of any model on observations that it was fitted to.
double fitted_rmse(Engine& engine, const FitPlan& plan, const Observations& observations, const FieldModel& model) {
  std::vector<std::size_t> rows;
  for (const std::size_t place : every_few(plan.split.training.size(), kTrainedRows)) rows.push_back(plan.split.training[place]);
  const Forecast known = forecast(engine, model, observations, rows, false);
  return root_mean_square_error(known, every_few(rows.size(), rows.size()));
}

// The median, over some of the training observations, of the time to the nearest one of another track that lies within the
// process's lengthscale; 0: no tracks, or no such neighbours.
double revisit_days(const FitPlan& plan, const Observations& observations, const ProcessInfo& process) {
  constexpr std::size_t kTargets = 300, kSources = 20000;
  if (observations.track.empty()) return 0.0;
  std::vector<std::size_t> rows;
  for (const std::size_t place : every_few(plan.split.training.size(), kSources)) rows.push_back(plan.split.training[place]);
  const TrainingRows some = training_rows(plan.domain, observations, rows, false, plan.settings.threads);
  const double length = lengthscale_to_engine(plan.domain, std::sqrt(process.lengthscale_x * process.lengthscale_y));
  std::vector<double> revisit;
  for (const std::size_t i : every_few(rows.size(), kTargets)) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (observations.track[rows[i]] == observations.track[rows[j]]) continue;
      double square = 0.0;
      for (std::size_t d = 0; d < some.columns; ++d) {
        const double apart = static_cast<double>(some.coordinates[i * some.columns + d]) -
                             static_cast<double>(some.coordinates[j * some.columns + d]);
        square += apart * apart;
      }
      if (square < length * length)
        least = std::min(least, std::abs(observations.time_days[rows[i]] - observations.time_days[rows[j]]));
    }
    if (std::isfinite(least)) revisit.push_back(least);
  }
  if (revisit.empty()) return 0.0;
  const auto middle = revisit.begin() + static_cast<std::ptrdiff_t>(revisit.size() / 2);
  std::nth_element(revisit.begin(), middle, revisit.end());
  return *middle;
}

double mean_of(std::span<const double> numbers, std::span<const std::size_t> of) {
  double sum = 0.0;
  for (const std::size_t i : of) sum += numbers[i];
  return sum / static_cast<double>(of.size());
}

}  // namespace

std::string noise_warning(double noise_sd, double value_sd) {
  constexpr double kMuch = 0.5;
  const double share = noise_sd * noise_sd / (value_sd * value_sd);
  if (!(share > kMuch)) return {};
  return fmt::format(
      "Noise, or detail that the observations do not resolve, makes up {:.0f} % of the values' variance: a map shows only what "
      "many observations share.",
      100.0 * std::min(share, 1.0));
}

std::string flat_warning(double field_sd, double noise_sd) {
  constexpr double kLittle = 0.1;
  if (!(field_sd < kLittle * noise_sd)) return {};
  return fmt::format(
      "The process finds hardly any field: its standard deviation, {:.2g}, is less than a tenth of the noise, {:.2g}, and a map "
      "will be flat. Average observations along their tracks, leave out outliers (--valid), or take more of them.",
      field_sd, noise_sd);
}

std::string short_memory_warning(double time_scale_days, double revisit_days) {
  if (!(time_scale_days < revisit_days)) return {};
  return fmt::format(
      "The field's time scale, {}, is shorter than the usual time between tracks at one place, {}: each track is mapped by "
      "itself, as if it had an error of its own. Fit the mean field (--time -), or a shorter period with more tracks.",
      days_text(time_scale_days), days_text(revisit_days));
}

std::string spread_limit_warning(double spread_scale, double field_sd, double noise_sd) {
  constexpr double kLimit = 100.0, kClose = 1.01;  // of fit_spread_scale()
  constexpr double kMatters = 0.1;                 // of the noise: beside it a smaller spread cannot be told from none
  const bool low = spread_scale<kClose / kLimit, high = spread_scale> kLimit / kClose;
  if (!high && !(low && field_sd / spread_scale > kMatters * noise_sd)) return {};
  return fmt::format(
      "Calibration {} the field's standard deviation by a factor of 100, as far as it may: the uncertainty of the field means "
      "nothing here. Use the total uncertainty alone, and look at the other warnings.",
      low ? "divides" : "multiplies");
}

std::string overfit_warning(double trained_rmse, double unseen_rmse) {
  constexpr double kFar = 0.4;
  if (!(trained_rmse < kFar * unseen_rmse)) return {};
  return fmt::format(
      "The networks' RMSE is {:.3g} on observations they were trained on and {:.3g} on unseen ones: they overfit, or the gaps "
      "are wider than the field's scales. Fewer --epochs, a larger --decay-noise-sd or --method process may do better.",
      trained_rmse, unseen_rmse);
}

std::string follows_noise_warning(double fitted_rmse, double unseen_rmse, double nugget_sd) {
  constexpr double kFar = 0.4, kBelowNoise = 0.5;
  if (!(fitted_rmse < kFar * unseen_rmse && fitted_rmse < kBelowNoise * nugget_sd)) return {};
  return fmt::format(
      "The model's RMSE is {:.3g} on observations it was fitted to and {:.3g} on unseen ones, while neighbouring observations "
      "differ by a noise of {:.3g}: it overfits, that is, it follows the noise. A map of it is rougher than the field.",
      fitted_rmse, unseen_rmse, nugget_sd);
}

std::string spread_warning(const Forecast& forecast, const std::vector<double>& nearest) {
  constexpr std::size_t kEnough = 400;
  constexpr double kFarther = 2.0, kWorse = 1.25, kWider = 1.05;
  const std::size_t n = nearest.size();
  if (forecast.sd_epistemic.size() != n || n < kEnough) return {};
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return nearest[a] < nearest[b]; });
  const std::span<const std::size_t> near(order.data(), n / 4), far(order.data() + (n - n / 4), n / 4);
  const auto middle = [&](std::span<const std::size_t> of) { return nearest[of[of.size() / 2]]; };
  const double errors = root_mean_square_error(forecast, far) / root_mean_square_error(forecast, near);
  const double spreads = mean_of(forecast.sd_epistemic, far) / mean_of(forecast.sd_epistemic, near);
  if (!(middle(far) > kFarther * middle(near) && errors > kWorse && spreads < kWider)) return {};
  return fmt::format(
      "Far from the data errors are {:.1f} times as large as near them, but the field's standard deviation is {:.1f} times as "
      "large: do not trust it in gaps.",
      errors, spreads);
}

void check_fit(Engine& engine, const FitPlan& plan, const Observations& observations, const Scored& scored, FitResult& result) {
  if (scored.rows.empty()) return;
  const std::vector<std::size_t> of = every_few(scored.rows.size(), kMostTargets);
  const std::vector<double> nearest = compare_with_baseline(plan, observations, scored, of, result);
  std::vector<std::string> found = {noise_warning(result.model.info.noise_sd, plan.domain.value.sd),
                                    spread_warning(some_of(scored.forecast, of), nearest)};
  const std::span<const double> spreads = scored.forecast.sd_epistemic;
  const double usual =
      spreads.empty() ? 0.0 : std::accumulate(spreads.begin(), spreads.end(), 0.0) / static_cast<double>(spreads.size());
  found.push_back(spread_limit_warning(result.model.info.spread_scale, usual, result.model.info.noise_sd));
  if (const auto process = process_info(result.model)) {
    found.push_back(flat_warning(process->field_sd, process->noise_sd));
    if (process->time_lengthscale_days > 0.0) {
      found.push_back(short_memory_warning(process->time_lengthscale_days, revisit_days(plan, observations, *process)));
    }
  }
  if (!result.model.ensemble.members.empty()) {
    const double unseen = result.worth ? result.worth->network_rmse : result.baseline->model_rmse;
    found.push_back(overfit_warning(trained_rmse(engine, plan, observations, result.model.ensemble), unseen));
  } else {
    found.push_back(follows_noise_warning(fitted_rmse(engine, plan, observations, result.model), result.baseline->model_rmse,
                                          plan.nugget_sd));
  }
  for (std::string& warning : found) {
    if (!warning.empty()) result.warnings.push_back(std::move(warning));
  }
}

}  // namespace drift
