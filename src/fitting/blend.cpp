#include "fitting/blend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/blocks.h"
#include "drift/error.h"
#include "fields/process_info.h"
#include "fitting/domain_words.h"
#include "fitting/length_text.h"
#include "process/latitudes.h"
#include "process/outliers.h"

namespace drift {
namespace {

constexpr std::size_t kJudged = 20000;  // observations forecast out of fold, at most
constexpr double kReach = 1.0;          // of the networks, in their differences from the process out of fold
constexpr std::size_t kBlock = 4096;    // points kriged between looks at the stop

// Members that leave out this fold.
Ensemble without_fold(const Ensemble& ensemble, int fold, int folds) {
  Ensemble part = {ensemble.spec, ensemble.seed, {}};
  for (const Member& member : ensemble.members) {
    if (left_out_fold(member.index, folds) == fold) part.members.push_back(member);
  }
  return part;
}

// The mean of the members that left out the rows' fold, to their places in `out`.
void forecast_fold(Engine& engine, const Ensemble& part, MatrixView<const float> rows, std::span<const std::size_t> places,
                   std::span<const std::size_t> to, std::vector<double>& out) {
  std::vector<float> points, mean(places.size());
  for (const std::size_t place : places) points.insert(points.end(), rows.row(place), rows.row(place) + rows.cols);
  engine.predict(part, MatrixView<const float>(points.data(), places.size(), rows.cols),
                 {.mean = MatrixView<float>(mean.data(), mean.size(), 1)});
  for (std::size_t i = 0; i < places.size(); ++i) out[to[i]] = static_cast<double>(mean[i]);
}

double root_mean_square(std::span<const double> y, std::span<const double> mean) {
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - mean[i]) * (y[i] - mean[i]);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, y.size())));
}

}  // namespace

FittedProcess fit_process_part(const InterpolatorData& data, std::uint64_t seed, int threads, const Control& control) {
  std::vector<float> error_variance;
  for (const float sd : data.noise_sd) error_variance.push_back(sd * sd);
  PlaceData places = {
      .coordinates = data.training.coordinates,
      .values = {data.training.values.data, data.training.values.rows},
      .error_variance = error_variance,
      .track = data.track,
      .platform = data.platform,
      .fold = data.fold,
      .groups = data.group.empty() ? 0 : *std::max_element(data.group.begin(), data.group.end()) + std::size_t{1}};
  ProcessSettings settings;
  settings.seed = seed;
  settings.threads = threads;
  const Despiked despiked = without_outliers(data.has_time(), places, threads, control);
  places.values = despiked.values;
  if (despiked.outliers > 0) {
    control.tell(
        fmt::format("Outliers: {} of {} observations stand out from their neighbours{}; the process takes the neighbours' "
                    "median in their place.",
                    grouped(static_cast<double>(despiked.outliers)), grouped(static_cast<double>(places.size())),
                    data.track.empty() ? "" : " on the track"));
  }
  FittedProcess fitted;
  fitted.process =
      std::make_shared<Process>(make_process(data.space, data.has_time(), places, settings, &fitted.group_of, control));
  control.check_stop();
  return fitted;
}

namespace {

// "2,870 by 2,190 km, the longer 4° north of east, 6 days; moving 237 km per day to the east and 31 to the south"
std::string scales_text(const ProcessInfo& info, bool has_time, const Domain& domain) {
  // q = B x; the lengthscales along and across the stretch are those of B's singular values, that is of B'B's eigenvalues.
  const double x = 1.0 / info.lengthscale_x, y = 1.0 / info.lengthscale_y;
  const double xx = x * x, xy = x * info.shear * y, yy = (1.0 + info.shear * info.shear) * y * y;
  const double middle = 0.5 * (xx + yy), half = std::hypot(0.5 * (xx - yy), xy);
  const double longer = 1.0 / std::sqrt(middle - half), shorter = 1.0 / std::sqrt(middle + half);
  std::string text = fmt::format("{} by {} {}", length_text(longer), length_text(shorter), domain.unit);
  if (longer > 1.1 * shorter) {
    const double degrees = 0.5 * std::atan2(-2.0 * xy, yy - xx) * 180.0 / std::numbers::pi + 0.0;  // no -0
    if (domain.kind == DomainKind::sphere) {
      text += fmt::format(", the longer {:.0f}° {} of east", std::abs(degrees), degrees < 0.0 ? "south" : "north");
    } else {
      text += fmt::format(", the longer {:.0f}° from the x axis", degrees);
    }
  }
  if (has_time) text += ", " + days_text(info.time_lengthscale_days) + motion_text(info, domain);
  return text;
}

// Latitudes that 5, 50 and 95 % of the places are south of.
std::vector<double> usual_latitudes(const Places& places) {
  std::vector<float> sines;
  for (std::size_t i = 0; i < places.size(); ++i) sines.push_back(places.rows()(i, 2));
  std::vector<double> latitudes;
  for (const double share : {0.05, 0.5, 0.95}) {
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(sines.size() - 1));
    std::nth_element(sines.begin(), sines.begin() + at, sines.end());
    latitudes.push_back(std::asin(std::clamp(static_cast<double>(sines[static_cast<std::size_t>(at)]), -1.0, 1.0)));
  }
  return latitudes;
}

}  // namespace

std::vector<std::string> describe(const Process& process, const Domain& domain) {
  const ProcessInfo info = info_of(process, domain);
  std::string text = fmt::format("Process: Matérn {:g}, lengthscales {}", info.nu, scales_text(info, process.has_time(), domain));
  if (info.second_share > 0.0)
    text +=
        fmt::format("; {:.0f} % of its variance over {:.2g} times these lengths", 100.0 * info.second_share, info.second_length);
  if (info.second_time_days > 0.0) text += fmt::format(" and {}, at rest", days_text(info.second_time_days));
  text += fmt::format("; SD of the field {:.3g}, of the noise {:.3g}", info.field_sd, info.noise_sd);
  if (info.track_sd > 0.0) text += fmt::format(", of the error along a track {:.3g}", info.track_sd);
  if (info.platform_sd > 0.0) text += fmt::format(", of the platform bias {:.3g}", info.platform_sd);
  std::vector<std::string> sentences = {text + "."};
  const ProcessParameters& p = process.parameters();
  if (std::all_of(p.by_latitude.begin(), p.by_latitude.end(), [](double c) { return c == 0.0; })) return sentences;
  for (const double latitude : usual_latitudes(process.places())) {
    const EnginePosition target = {std::cos(latitude), 0.0, std::sin(latitude), 0.0};
    const ProcessInfo here = info_of(at_target(p, Space::sphere, target), process.has_time(), domain);
    sentences.push_back(fmt::format("At {:.0f}° {}: {}.", std::abs(latitude) * 180.0 / std::numbers::pi,
                                    latitude < 0.0 ? "S" : "N", scales_text(here, process.has_time(), domain)));
  }
  return sentences;
}

OutOfFold forecast_out_of_fold(Engine& engine, const InterpolatorData& data, const Ensemble& ensemble, const Process& process,
                               int threads, const Control& control) {
  const MatrixView<const float> rows = data.training.coordinates;
  const std::size_t stride = std::max<std::size_t>(1, (rows.rows + kJudged - 1) / kJudged);
  OutOfFold out;
  std::vector<float> points;
  std::vector<int> left_out;
  for (std::size_t place = 0; place < rows.rows; place += stride) {
    out.rows.push_back(place), out.training.push_back(place);
    out.y.push_back(static_cast<double>(data.training.values(place, 0)));
    points.insert(points.end(), rows.row(place), rows.row(place) + rows.cols);
    left_out.push_back(data.fold[place]);
    if (!data.group.empty()) out.group.push_back(data.group[place]);
  }
  const std::size_t all = out.rows.size();
  out.process.resize(all), out.process_variance.resize(all), out.local.assign(all, 1.0);
  for_blocks(all, kBlock, [&](std::size_t first, std::size_t count) {
    control.check_stop();
    process.predict(
        MatrixView<const float>(points.data() + first * rows.cols, count, rows.cols),
        {.mean = std::span(out.process).subspan(first, count), .variance = std::span(out.process_variance).subspan(first, count)},
        threads, std::span(left_out).subspan(first, count));
    control.report(static_cast<double>(first + count) / static_cast<double>(all), "forecasting out of fold");
  });
  if (ensemble.members.empty()) return out;

  out.network.resize(all);
  for (int fold = 0; fold < data.fold_count; ++fold) {
    control.check_stop();
    std::vector<std::size_t> of_fold, to;
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
      if (left_out[i] == fold) of_fold.push_back(out.rows[i]), to.push_back(i);
    }
    const Ensemble part = without_fold(ensemble, fold, data.fold_count);
    if (of_fold.empty()) continue;
    if (part.members.empty()) throw Error("a fold was left out by no network; ask for as many networks as folds");
    forecast_fold(engine, part, rows, of_fold, to, out.network);
  }
  return out;
}

OutOfFold forecast_out_of_fold(Engine& engine, const FitPlan& plan, const Observations& observations,
                               const InterpolatorData& data, const Ensemble& ensemble, const Process& process,
                               const Control& control) {
  OutOfFold out = forecast_out_of_fold(engine, data, ensemble, process, plan.settings.threads, control);
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    out.rows[i] = plan.split.training[out.rows[i]];
    out.y[i] = plan.domain.value.to_engine(observations.value[out.rows[i]]);
  }
  return out;
}

BlendWeight blend_weight(const OutOfFold& out) {
  const std::size_t n = out.network.size();
  double squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) squares += (out.network[i] - out.process[i]) * (out.network[i] - out.process[i]);
  if (squares <= 0.0) return {};
  BlendWeight weight = {.process = 0.0, .reach = kReach * std::sqrt(squares / static_cast<double>(n))};
  // Contribution of the networks at full weight: y - process = share added + error.
  std::vector<double> added(n);
  double both = 0.0, apart = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    added[i] = blended(weight, out.process[i], 0.0, out.network[i]).mean - out.process[i];
    both += (out.y[i] - out.process[i]) * added[i];
    apart += added[i] * added[i];
  }
  const double share = both / apart;
  if (share <= 0.0) return {1.0, weight.reach};
  // The sandwich estimate of its variance, clustered by group.
  std::vector<double> scores(out.group.empty() ? n : *std::max_element(out.group.begin(), out.group.end()) + std::size_t{1});
  for (std::size_t i = 0; i < n; ++i) {
    scores[out.group.empty() ? i : out.group[i]] += (out.y[i] - out.process[i] - share * added[i]) * added[i];
  }
  const double variance = std::inner_product(scores.begin(), scores.end(), scores.begin(), 0.0) / (apart * apart);
  weight.process = 1.0 - std::clamp(share - variance / share, 0.0, 1.0);
  return weight;
}

std::string learn_local_spread(const FittedProcess& fitted, const InterpolatorData& data, const BlendWeight& weight, int threads,
                               OutOfFold& out, const Control& control) {
  const MatrixView<const float> rows = data.training.coordinates;
  const double noise = fitted.process->observation_variance();
  std::vector<double> squares;
  std::vector<std::uint32_t> place;
  std::vector<float> points;
  std::vector<int> left_out;
  for (std::size_t i = 0; i < out.training.size(); ++i) {
    const std::size_t row = out.training[i];
    const double network = out.network.empty() ? out.process[i] : out.network[i];
    const BlendedPoint point = blended(weight, out.process[i], out.process_variance[i], network);
    const double known = data.noise_sd.empty() ? 0.0 : std::pow(static_cast<double>(data.noise_sd[row]), 2);
    squares.push_back(std::pow(out.y[i] - point.mean, 2) / (point.variance + noise + known));
    place.push_back(fitted.group_of[row]);
    points.insert(points.end(), rows.row(row), rows.row(row) + rows.cols);
    left_out.push_back(data.fold[row]);
  }
  fitted.process->learn_spread({.place = place, .square = squares, .cluster = out.group},
                               {points.data(), out.training.size(), rows.cols}, left_out, threads, out.local, control);
  if (fitted.process->local_spread().prior <= 0.0) return {};
  std::vector<double> factors = out.local;
  std::sort(factors.begin(), factors.end());
  const auto at = [&](double share) {
    return std::sqrt(factors[static_cast<std::size_t>(share * static_cast<double>(factors.size() - 1))]);
  };
  return fmt::format("Error bars follow the local variability: {:.2g} to {:.2g} times the average ones (5 to 95 % of the data).",
                     at(0.05), at(0.95));
}

PartWorth part_worth(const OutOfFold& out, const BlendWeight& weight, const Domain& domain) {
  PartWorth worth = {.process_weight = weight.process};
  worth.process_rmse = sd_from_engine(domain, root_mean_square(out.y, out.process));
  worth.blend_rmse = worth.process_rmse;
  if (out.network.empty()) return worth;
  std::vector<double> both(out.y.size());
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = blended(weight, out.process[i], 0.0, out.network[i]).mean;
  worth.network_rmse = sd_from_engine(domain, root_mean_square(out.y, out.network));
  worth.blend_rmse = sd_from_engine(domain, root_mean_square(out.y, both));
  return worth;
}

Forecast forecast_of(const OutOfFold& out, const BlendWeight& weight, const Domain& domain, const Observations& observations,
                     std::span<const std::size_t> rows, double noise_sd, double spread_scale, bool noise_by_sigma) {
  Forecast forecast;
  for (const std::size_t row : rows) {
    const auto at = static_cast<std::size_t>(std::lower_bound(out.rows.begin(), out.rows.end(), row) - out.rows.begin());
    const double network = out.network.empty() ? out.process[at] : out.network[at];
    const BlendedPoint point = blended(weight, out.process[at], out.process_variance[at], network, out.local[at]);
    forecast.y.push_back(observations.value[row]);
    forecast.mean.push_back(domain.value.from_engine(point.mean));
    forecast.sd_epistemic.push_back(spread_scale * sd_from_engine(domain, std::sqrt(point.variance)));
    forecast.noise_sd.push_back(noise_by_sigma ? static_cast<double>(observations.sigma[row])
                                               : noise_sd * std::sqrt(out.local[at]));
  }
  return forecast;
}

}  // namespace drift
