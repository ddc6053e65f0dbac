#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "drift/error.h"
#include "drift/field_model.h"

namespace drift {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Positions that are some, and where they come from.
struct Known {
  std::vector<std::size_t> index;
  std::vector<double> lon_deg, lat_deg, time_days;  // time_days: one for all, or one each
};

Known known_positions(std::span<const double> lon_deg, std::span<const double> lat_deg, std::span<const double> time_days) {
  Known known;
  const bool one_time = time_days.size() == 1;
  if (one_time) known.time_days = {time_days[0]};
  for (std::size_t i = 0; i < lon_deg.size(); ++i) {
    const bool has_time = time_days.empty() || one_time || std::isfinite(time_days[i]);
    if (!std::isfinite(lon_deg[i]) || !std::isfinite(lat_deg[i]) || !has_time) continue;
    known.index.push_back(i);
    known.lon_deg.push_back(lon_deg[i]);
    known.lat_deg.push_back(lat_deg[i]);
    if (!time_days.empty() && !one_time) known.time_days.push_back(time_days[i]);
  }
  return known;
}

void check_lengths(const FieldModel& model, std::span<const double> lon_deg, std::span<const double> lat_deg,
                   std::span<const double> time_days) {
  if (lat_deg.size() != lon_deg.size()) {
    throw UsageError(fmt::format("prediction: {} longitudes but {} latitudes", lon_deg.size(), lat_deg.size()));
  }
  if (!model.info.has_time && !time_days.empty()) throw UsageError("prediction: the model has no time, so none may be given");
  if (model.info.has_time && time_days.size() != 1 && time_days.size() != lon_deg.size()) {
    throw UsageError(
        fmt::format("prediction: {} positions but {} times; the model varies in time", lon_deg.size(), time_days.size()));
  }
}

}  // namespace

FieldPrediction predict_field(Engine& engine, const FieldModel& model, std::span<const double> lon_deg,
                              std::span<const double> lat_deg, std::span<const double> time_days, const PredictWants& wants) {
  check_lengths(model, lon_deg, lat_deg, time_days);
  const Known known = known_positions(lon_deg, lat_deg, time_days);
  const std::size_t n = lon_deg.size(), count = known.index.size(), members = model.ensemble.members.size();
  const auto columns = static_cast<std::size_t>(model.ensemble.spec.coordinates());
  FieldPrediction out;
  out.mean.assign(n, kNone);
  if (model.has_spread()) {
    out.sd_epistemic.assign(n, kNone);
    out.sd_total.assign(n, kNone);
  }
  if (wants.members) out.members.assign(n * members, kNone);
  if (wants.gradient) out.gradient.assign(n, {std::nan(""), std::nan(""), std::nan("")});
  if (count == 0) return out;

  std::vector<float> rows(count * columns), mean(count), variance(count), each(wants.members ? count * members : 0);
  const MatrixView<float> row_view(rows.data(), count, columns);
  engine_rows(model.domain, known.lon_deg, known.lat_deg, known.time_days, row_view);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), count, 1);
  if (model.has_spread()) views.variance = MatrixView<float>(variance.data(), count, 1);
  if (wants.members) views.members = MatrixView<float>(each.data(), count, members);
  if (model.last_layers.empty())
    engine.predict(model.ensemble, row_view, views);
  else
    predict_last_layer(engine, model.ensemble, model.last_layers, row_view, views);

  const Standard& value = model.domain.value;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t to = known.index[i];
    out.mean[to] = static_cast<float>(value.from_engine(mean[i]));
    if (model.has_spread()) {
      const double sd = model.info.spread_scale * sd_from_engine(model.domain, std::sqrt(static_cast<double>(variance[i])));
      out.sd_epistemic[to] = static_cast<float>(sd);
      out.sd_total[to] = static_cast<float>(std::hypot(sd, model.info.noise_sd));
    }
    for (std::size_t m = 0; wants.members && m < members; ++m) {
      out.members[m * n + to] = static_cast<float>(value.from_engine(each[i * members + m]));
    }
  }
  if (wants.gradient) {
    std::vector<float> gradient(count * columns);
    std::vector<GroundGradient> ground(count);
    const MatrixView<float> view(gradient.data(), count, columns);
    engine.input_gradient(model.ensemble, row_view, view);
    ground_gradient(model.domain, known.lon_deg, known.lat_deg, view, ground);
    for (std::size_t i = 0; i < count; ++i) out.gradient[known.index[i]] = ground[i];
  }
  return out;
}

}  // namespace drift
