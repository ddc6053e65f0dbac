#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "comparing/compare_parts.h"
#include "core/blocks.h"
#include "drift/compare.h"
#include "drift/error.h"
#include "drift/position.h"
#include "fitting/judge.h"
#include "fitting/method_data.h"
#include "gp/nearest_neighbours.h"
#include "math/huber.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

constexpr std::size_t kStoppableBlock =
    4096;                           // points predicted between looks for a stop request: the slowest methods take half a second
constexpr double kFitShare = 0.95;  // of the time of a fit and its scores

// A method's forecast of points, in the values' unit, with its uncalibrated spread.
struct Said {
  std::vector<double> mean, sd_epistemic, sd_total;
  std::vector<float> members;  // [n, method's members], in the engine's unit, if wanted
};

struct Positions {
  std::vector<double> lon_deg, lat_deg, time_days;  // the last empty where the field has no time
};

Positions positions_of(const Observations& observations, std::span<const std::size_t> rows, bool has_time) {
  Positions at;
  for (const std::size_t row : rows) {
    at.lon_deg.push_back(observations.lon_deg[row]);
    at.lat_deg.push_back(observations.lat_deg[row]);
    if (has_time) at.time_days.push_back(observations.time_days[row]);
  }
  return at;
}

// One fitted method and what its predictions have cost so far.
class Fitted {
 public:
  Fitted(const ComparePlan& plan, const Interpolator& method, const Control& control)
      : plan_(plan), method_(method), control_(control) {}

  // One time serves for all; none where the field has no time.
  Said at(std::span<const double> lon_deg, std::span<const double> lat_deg, std::span<const double> time_days,
          bool with_members = false) {
    const Domain& domain = plan_.fit.domain;
    const auto columns = static_cast<std::size_t>(space_coordinates(domain)) + (time_days.empty() ? 0 : 1);
    const std::size_t n = lon_deg.size();
    const std::size_t members = with_members ? method_.members() : 0;
    Said out = {std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<float>(n * members)};
    std::vector<float> rows(std::min(n, kStoppableBlock) * columns);
    for_blocks(n, kStoppableBlock, [&](std::size_t first, std::size_t count) {
      control_.check_stop();
      const MatrixView<float> view(rows.data(), count, columns);
      engine_rows(domain, lon_deg.subspan(first, count), lat_deg.subspan(first, count),
                  time_days.size() > 1 ? time_days.subspan(first, count) : time_days, view);
      const Stopwatch watch;
      method_.predict(view, {.mean = std::span(out.mean).subspan(first, count),
                             .sd_epistemic = std::span(out.sd_epistemic).subspan(first, count),
                             .sd_total = std::span(out.sd_total).subspan(first, count),
                             .members = std::span(out.members).subspan(first * members, count * members)});
      wall_s += watch.wall_s(), core_s += watch.core_s(), points += static_cast<double>(count);
    });
    for (std::size_t i = 0; i < n; ++i) {
      check(out, i, lon_deg[i], lat_deg[i]);
      out.mean[i] = domain.value.from_engine(out.mean[i]);
      out.sd_epistemic[i] = sd_from_engine(domain, out.sd_epistemic[i]);
      out.sd_total[i] = sd_from_engine(domain, out.sd_total[i]);
    }
    return out;
  }

  double wall_s = 0.0, core_s = 0.0, points = 0.0;

 private:
  static void check(const Said& said, std::size_t i, double lon, double lat) {
    const bool good = std::isfinite(said.mean[i]) && said.sd_epistemic[i] >= 0.0 && std::isfinite(said.sd_epistemic[i]) &&
                      said.sd_total[i] >= 0.0 && std::isfinite(said.sd_total[i]);
    if (good) return;
    throw Error(fmt::format("its prediction at {:.4g}, {:.4g} is not a number (mean {:g}, sd {:g}, sd of an observation {:g})",
                            lon, lat, said.mean[i], said.sd_epistemic[i], said.sd_total[i]));
  }

  const ComparePlan& plan_;
  const Interpolator& method_;
  const Control& control_;
};

// Held-out observations as a method sees them, with the noise and spread settled so far. own_noise: the method's, so many times.
Forecast forecast_of(Fitted& fitted, const ComparePlan& plan, const Observations& observations, std::optional<double> own_noise,
                     const FieldInfo& info, std::span<const std::size_t> rows) {
  const bool sigmas = plan.fit.settings.uncertainty.noise == NoiseSource::sigma;
  const Positions at = positions_of(observations, rows, info.has_time);
  Forecast out;
  for (const std::size_t row : rows) out.y.push_back(observations.value[row]);
  Said said = fitted.at(at.lon_deg, at.lat_deg, at.time_days);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double own =
        std::sqrt(std::max(0.0, said.sd_total[i] * said.sd_total[i] - said.sd_epistemic[i] * said.sd_epistemic[i]));
    out.noise_sd.push_back(sigmas      ? static_cast<double>(observations.sigma[rows[i]])
                           : own_noise ? *own_noise * own
                                       : info.noise_sd);
    said.sd_epistemic[i] *= info.spread_scale;
  }
  out.mean = std::move(said.mean);
  out.sd_epistemic = std::move(said.sd_epistemic);
  return out;
}

// The mean Huber loss over draws of the field: its networks where it has some, about their mean and with the spread of the
// forecast; else a Gaussian.
double huber_nlpd(Fitted& fitted, const ComparePlan& plan, const Observations& observations, const Judgement& judged) {
  const Domain& domain = plan.fit.domain;
  const double delta = plan.fit.settings.train.huber_delta * domain.value.sd;
  const Positions at = positions_of(observations, judged.rows, plan.info.has_time);
  const Said said = fitted.at(at.lon_deg, at.lat_deg, at.time_days, true);
  const Forecast& forecast = judged.forecast;
  const std::size_t n = judged.rows.size(), members = said.members.size() / n;
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double sd = forecast.sd_epistemic[i];
    if (members < 2) sum += gaussian_huber(forecast.y[i], forecast.mean[i], sd, delta);
    const double stretch = said.sd_epistemic[i] > 0.0 ? sd / said.sd_epistemic[i] : 0.0;
    for (std::size_t m = 0; m < members && members > 1; ++m) {
      const double draw = domain.value.from_engine(static_cast<double>(said.members[i * members + m]));
      const double residual = forecast.y[i] - (said.mean[i] + stretch * (draw - said.mean[i]));
      sum += huber_value(residual, delta) / static_cast<double>(members);
    }
  }
  return sum / static_cast<double>(n);
}

void add_scores(const Scores& scores, std::map<std::string, double>& measures) {
  measures["rmse"] = scores.rmse;
  measures["mae"] = scores.mae;
  measures["rmae"] = scores.rmae;
  if (scores.crps) measures["crps"] = *scores.crps;
  if (scores.nll) measures["nlpd"] = *scores.nll;
  if (scores.interval_score95) measures["interval_score95"] = *scores.interval_score95;
  for (const Scores::Interval& interval : scores.intervals) {
    if (interval.level == 0.9) measures["coverage90"] = interval.share;
  }
}

// Without what varies over hundreds of kilometres only: each error less the mean of those around it.
double detail_rmse(const std::vector<double>& lon_deg, const std::vector<double>& lat_deg, std::span<const double> error) {
  constexpr double kAroundKm = 200.0;  // along the chord
  Eigen::MatrixXd points(3, static_cast<Eigen::Index>(error.size()));
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const UnitVector vector = unit_vector({lon_deg[at], lat_deg[at]});
    for (Eigen::Index d = 0; d < 3; ++d) points(d, i) = kEarthRadiusKm * vector.at(static_cast<std::size_t>(d));
  }
  const gp::NeighbourTree tree(points);
  std::vector<Eigen::Index> around;
  double sum = 0.0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    tree.within(points.col(i).data(), kAroundKm, around);
    double mean = 0.0;
    for (const Eigen::Index j : around) mean += error[static_cast<std::size_t>(j)] / static_cast<double>(around.size());
    const double detail = error[static_cast<std::size_t>(i)] - mean;
    sum += detail * detail;
  }
  return std::sqrt(sum / static_cast<double>(error.size()));
}

// Of the field's own spread: the truth has no noise.
void add_truth_scores(const ComparePlan& plan, const MapPoints& points, const Said& map,
                      std::map<std::string, double>& measures) {
  const std::vector<double> truth = truth_values(plan, points);
  const double least = 1e-9 * plan.fit.domain.value.sd;
  std::vector<double> y, mean, sd, error, lon, lat;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!points.inside[i] || !std::isfinite(truth[i])) continue;
    lon.push_back(points.lon_deg[i]), lat.push_back(points.lat_deg[i]);
    error.push_back(map.mean[i] - truth[i]);
    y.push_back(truth[i]);
    mean.push_back(map.mean[i]);
    sd.push_back(std::max(map.sd_epistemic[i], least));
  }
  if (y.empty()) throw UsageError("[compare] truth: it has no value at any point of the grid among the observations");
  measures["truth_rmse"] = rmse(y, mean);
  measures["truth_detail_rmse"] = detail_rmse(lon, lat, error);
  measures["truth_crps"] = mean_crps(y, mean, sd);
  measures["truth_nll"] = mean_nll(y, mean, sd);
  measures["truth_coverage90"] = coverage(y, mean, sd, 0.9);
}

class OneFit {
 public:
  OneFit(const ComparePlan& plan, const Dataset& data, std::string method, std::uint64_t seed, const Control& control)
      : plan_(plan),
        own_(plan_under(control, plan.fit)),
        reading_(data),
        control_(control),
        result_{.method = std::move(method), .seed = seed} {
    own_.settings.seed = seed;
  }

  ComparedFit run() {
    const std::unique_ptr<Interpolator> method = plan_.make(result_.method, own_, reading_);
    fit(*method);
    judge_and_map(*method);
    result_.measures["peak_mib"] = peak_memory_mib();
    result_.findings = method->findings(plan_.fit.domain);
    return result_;
  }

 private:
  void fit(Interpolator& method) {
    const MethodData data = method_data(own_, reading_.observations);
    const InterpolatorOptions options = interpolator_options(own_.settings);
    forget_peak_memory();
    const Stopwatch watch;
    method.fit(data.view(), options, control_.part(0.0, kFitShare));
    result_.measures["fit_s"] = watch.wall_s();
    result_.measures["fit_core_s"] = watch.core_s();
  }

  void judge_and_map(const Interpolator& method) {
    control_.report(kFitShare, "scores");
    Fitted fitted(plan_, method, control_);
    FieldInfo info = plan_.info;
    const bool given = plan_.fit.settings.uncertainty.noise_sd.has_value();
    const std::optional<double> settled = given ? std::nullopt : method.settled_noise();
    const double before = settled ? sd_from_engine(plan_.fit.domain, *settled) : 1.0;
    const auto forecaster = [&](std::span<const std::size_t> rows) {
      std::optional<double> own;
      if (own_noise(method) || settled) own = settled ? info.noise_sd / before : 1.0;
      return forecast_of(fitted, plan_, reading_.observations, own, info, rows);
    };
    if (settled) info.noise_sd = before;
    const NoiseKnown known = own_noise(method) ? NoiseKnown::by_forecast : settled ? NoiseKnown::by_process : NoiseKnown::no;
    const Judgement judgement = judge(own_, reading_.observations, own_.split.held_out, forecaster, info, known, {}, control_);
    add_scores(*judgement.held_out, result_.measures);
    result_.measures["huber_nlpd"] = huber_nlpd(fitted, plan_, reading_.observations, judgement);
    result_.measures[kScoresCalibrated] = judgement.scores_calibrated ? 1.0 : 0.0;
    result_.measures["noise_sd"] = info.noise_sd;
    result_.measures["spread_scale"] = info.spread_scale;
    const bool keep_map = !plan_.folder.empty() && result_.seed == plan_.seeds.front();
    if (plan_.truth || keep_map) {
      const MapPoints points = map_points(plan_);
      const std::vector<double> time = plan_.map_time ? std::vector<double>{*plan_.map_time} : std::vector<double>();
      Said map = fitted.at(points.lon_deg, points.lat_deg, time);
      for (double& sd : map.sd_epistemic) sd *= info.spread_scale;
      if (plan_.truth) add_truth_scores(plan_, points, map, result_.measures);
      if (keep_map) {
        const std::filesystem::path stem = fit_stem(plan_, result_.method, result_.seed);
        write_map(plan_, points, map.mean, map.sd_epistemic, result_.method, stem.string() + ".nc");
      }
    }
    result_.measures["predict_s"] = fitted.wall_s;
    result_.measures["predict_core_s"] = fitted.core_s;
    result_.measures["predict_points"] = fitted.points;
    result_.measures["points_per_s"] = fitted.points / std::max(fitted.wall_s, 1e-9);
  }

  // The method's own noise counts where nothing is calibrated and none is given.
  bool own_noise(const Interpolator& method) const {
    const UncertaintySettings& wanted = plan_.fit.settings.uncertainty;
    return method.knows_noise() && wanted.calibrate == CalibrationMethod::none && !wanted.noise_sd;
  }

  const ComparePlan& plan_;
  FitPlan own_;  // of this fit
  const Dataset& reading_;
  const Control& control_;
  ComparedFit result_;
};

}  // namespace

ComparedFit compare_fit(const ComparePlan& plan, const Dataset& data, const std::string& method, std::uint64_t seed,
                        const Control& control) {
  const auto failed = [&](const std::string& why) { return ComparedFit{.method = method, .seed = seed, .failure = why}; };
  try {
    return OneFit(plan, data, method, seed, control).run();
  } catch (const Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

}  // namespace drift
