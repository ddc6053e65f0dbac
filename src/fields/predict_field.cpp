#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blocks.h"
#include "drift/error.h"
#include "drift/predict.h"
#include "fields/goes_with.h"
#include "fields/gradient_scale.h"
#include "fields/parts_predictor.h"
#include "geo/around.h"
#include "geo/reach.h"

namespace drift {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Known positions within the domain's reach, with their indices in the request.
struct Known {
  std::vector<std::size_t> index;
  std::vector<double> lon_deg, lat_deg, time_days;  // time_days: one for all, or one each
};

void keep_reached(const Domain& domain, double gradient_scale, Known& known) {
  const std::size_t n = known.index.size();
  std::vector<char> keep = reached(domain, known.lon_deg, known.lat_deg);
  if (gradient_scale > 0.0) {
    std::vector<double> lon(4 * n), lat(4 * n);
    positions_around(domain, known.lon_deg, known.lat_deg, gradient_scale, lon, lat);
    const std::vector<char> around = reached(domain, lon, lat);
    for (std::size_t i = 0; i < 4 * n; ++i) keep[i / 4] = keep[i / 4] && around[i] ? 1 : 0;
  }
  const auto shorten = [&](auto& column) {
    if (column.size() != n) return;  // one time for all
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (keep[i]) column[kept++] = column[i];
    }
    column.resize(kept);
  };
  shorten(known.lon_deg);
  shorten(known.lat_deg);
  shorten(known.time_days);
  shorten(known.index);
}

// gradient_scale > 0: with the positions so far apart around them within reach too.
Known known_positions(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                      std::span<const double> time_days, double gradient_scale) {
  Known known;
  const bool one_time = time_days.size() == 1;
  if (one_time) known.time_days = {time_days[0]};
  for (std::size_t i = 0; i < lon_deg.size(); ++i) {
    const bool has_time = time_days.empty() || std::isfinite(time_days[one_time ? 0 : i]);
    if (!std::isfinite(lon_deg[i]) || !std::isfinite(lat_deg[i]) || !has_time) continue;
    known.index.push_back(i);
    known.lon_deg.push_back(lon_deg[i]);
    known.lat_deg.push_back(lat_deg[i]);
    if (!time_days.empty() && !one_time) known.time_days.push_back(time_days[i]);
  }
  if (domain.kind == DomainKind::plane) keep_reached(domain, gradient_scale, known);
  return known;
}

// Fills the results of some of the known positions, first to first + count.
class BlockPredictor {
 public:
  // gradient_scale > 0: gradients are differences over it.
  BlockPredictor(const PartsPredictor& parts, const PredictWants& wants, double gradient_scale, const Known& known,
                 FieldPrediction& out)
      : parts_(parts), model_(parts.model()), wants_(wants), gradient_scale_(gradient_scale), known_(known), out_(out) {}

  void predict(std::size_t first, std::size_t count) {
    const auto columns = static_cast<std::size_t>(space_coordinates(model_.domain)) + (model_.info.has_time ? 1 : 0);
    const auto lon = std::span(known_.lon_deg).subspan(first, count), lat = std::span(known_.lat_deg).subspan(first, count);
    const std::span<const double> time =
        known_.time_days.size() > 1 ? std::span(known_.time_days).subspan(first, count) : std::span(known_.time_days);
    std::vector<float> rows(count * columns);
    const MatrixView<float> row_view(rows.data(), count, columns);
    engine_rows(model_.domain, lon, lat, time, row_view);
    const std::span<const std::size_t> index = std::span(known_.index).subspan(first, count);
    if (gradient_scale_ > 0.0) {
      const std::vector<float> around = rows_around(lon, lat, time, columns);
      const PartForecast raw =
          parts_(row_view, {.members = wants_.members, .around = MatrixView<const float>(around.data(), 4 * count, columns)});
      keep(index, raw);
      keep_differences(index, raw);
      return;
    }
    const PartForecast raw = parts_(row_view, {.members = wants_.members, .gradient = wants_.gradient});
    keep(index, raw);
    if (!wants_.gradient) return;
    std::vector<GroundGradient> ground(count);
    std::vector<float> gradient;
    for (const double slope : raw.gradient) gradient.push_back(static_cast<float>(slope));
    ground_gradient(model_.domain, lon, lat, MatrixView<const float>(gradient.data(), count, columns), ground);
    for (std::size_t i = 0; i < count; ++i) out_.gradient[known_.index[first + i]] = ground[i];
  }

 private:
  std::vector<float> rows_around(std::span<const double> lon, std::span<const double> lat, std::span<const double> time,
                                 std::size_t columns) const {
    const std::size_t n = 4 * lon.size();
    std::vector<double> around_lon(n), around_lat(n), times(time.begin(), time.end());
    positions_around(model_.domain, lon, lat, gradient_scale_, around_lon, around_lat);
    if (time.size() > 1) {
      times.resize(n);
      for (std::size_t i = 0; i < n; ++i) times[i] = time[i / 4];
    }
    std::vector<float> rows(n * columns);
    engine_rows(model_.domain, around_lon, around_lat, times, MatrixView<float>(rows.data(), n, columns));
    return rows;
  }

  void keep_differences(std::span<const std::size_t> index, const PartForecast& raw) {
    const double per_distance = sd_from_engine(model_.domain, 1.0) / gradient_scale_;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const double* const mean = raw.around_mean.data() + 4 * i;
      out_.gradient[index[i]] = {per_distance * (mean[1] - mean[0]), per_distance * (mean[3] - mean[2]), kNone};
      if (out_.gradient_sd.empty()) continue;
      const auto sd = [&](std::size_t pair) {
        return model_.info.spread_scale * per_distance * std::sqrt(raw.difference_variance[2 * i + pair]);
      };
      out_.gradient_sd[index[i]] = {sd(0), sd(1), kNone};
    }
  }

  void keep(std::span<const std::size_t> index, const PartForecast& raw) {
    const Standard& value = model_.domain.value;
    const std::size_t n = out_.mean.size(), members = model_.ensemble.members.size();
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::size_t to = index[i];
      if (!std::isfinite(raw.mean[i]) || !(raw.variance.empty() || std::isfinite(raw.variance[i])))
        throw Error(
            fmt::format("the prediction at point {} is not finite: the model's file is damaged, or training diverged", to));
      out_.mean[to] = value.from_engine(raw.mean[i]);
      if (!out_.sd_total.empty()) {
        const double sd = model_.info.spread_scale * sd_from_engine(model_.domain, std::sqrt(raw.variance[i]));
        out_.sd_epistemic[to] = sd;
        out_.sd_total[to] = std::hypot(sd, noise_sd(raw, i));
      }
      for (std::size_t m = 0; wants_.members && m < members; ++m) {
        out_.members[m * n + to] = value.from_engine(raw.members[i * members + m]);
      }
    }
  }

  // Of a new observation's error.
  double noise_sd(const PartForecast& raw, std::size_t i) const {
    if (!raw.noise.empty()) return sd_from_engine(model_.domain, std::sqrt(raw.noise[i]));
    if (raw.local.empty()) return model_.info.noise_sd;
    const double noise = model_.info.noise_sd / sd_from_engine(model_.domain, 1.0);
    return sd_from_engine(model_.domain, std::sqrt(raw.local[i] * noise * noise));
  }

  const PartsPredictor& parts_;
  const FieldModel& model_;
  const PredictWants& wants_;
  double gradient_scale_;
  const Known& known_;
  FieldPrediction& out_;
};

}  // namespace

FieldPredictor::FieldPredictor(Engine& engine, const FieldModel& model)
    : parts_(std::make_shared<const PartsPredictor>(engine, model)) {}

FieldPrediction predict_field(Engine& engine, const FieldModel& model, std::span<const double> lon_deg,
                              std::span<const double> lat_deg, std::span<const double> time_days, const PredictWants& wants,
                              const Control& control) {
  return FieldPredictor(engine, model)(lon_deg, lat_deg, time_days, wants, control);
}

FieldPrediction FieldPredictor::operator()(std::span<const double> lon_deg, std::span<const double> lat_deg,
                                           std::span<const double> time_days, const PredictWants& wants,
                                           const Control& control) const {
  const FieldModel& model = parts_->model();
  check_lengths(model, lon_deg.size(), lat_deg.size(), time_days.size());
  if (wants.members && model.ensemble.members.empty()) {
    throw UsageError(
        fmt::format("prediction: the model is {} alone and has no members; leave --members out", base_of(model).words().noun));
  }
  const double scale = wants.gradient ? gradient_scale(model, wants) : 0.0;
  const Known known = known_positions(model.domain, lon_deg, lat_deg, time_days, scale);
  const std::size_t n = lon_deg.size(), count = known.index.size();
  FieldPrediction out;
  out.mean.assign(n, kNone);
  if (model.has_spread()) {
    out.sd_epistemic.assign(n, kNone);
    out.sd_total.assign(n, kNone);
  }
  if (wants.members) out.members.assign(n * model.ensemble.members.size(), kNone);
  if (wants.gradient) out.gradient.assign(n, {kNone, kNone, kNone});
  if (has_slope_sd(model, scale)) out.gradient_sd.assign(n, {kNone, kNone, kNone});
  BlockPredictor predictor(*parts_, wants, scale, known, out);
  for_blocks(count, parts_->block(), [&](std::size_t first, std::size_t some) {
    control.check_stop("stopped while predicting");
    predictor.predict(first, some);
    control.report(static_cast<double>(first + some) / static_cast<double>(count), "predicting");
  });
  return out;
}

}  // namespace drift
