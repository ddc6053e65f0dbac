#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/blocks.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "drift/predict.h"
#include "fields/blended_point.h"
#include "process/place_finder.h"
#include "process/process.h"

namespace drift {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Points predicted between looks at the stop: enough to fill a GPU; half a second of ten networks of the default size on two
// cores; and kriging takes some 0.1 ms per point and core.
constexpr std::size_t kGpuBlock = kPointsAtATime, kCpuBlock = 8192, kProcessBlock = 4096;

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
  if (!model.info.has_time && !time_days.empty())
    throw UsageError("prediction: the model does not vary in time; leave the times out");
  if (model.info.has_time && time_days.size() != 1 && time_days.size() != lon_deg.size()) {
    throw UsageError(
        fmt::format("prediction: {} positions but {} times; the model varies in time", lon_deg.size(), time_days.size()));
  }
}

// Means, variances and gradients in the engine's units, of the parts that a model has, at rows [n, columns].
struct Raw {
  std::vector<double> mean, variance;  // [n]
  std::vector<double> noise;           // [n] variance of a new observation's error; empty: the model's own
  std::vector<float> each;             // [n, members]
  std::vector<float> gradient;         // [n, columns]
};

void predict_networks(Engine& engine, Predictor& networks, const FieldModel& model, MatrixView<const float> rows,
                      const PredictWants& wants, Raw& out) {
  const std::size_t n = rows.rows, members = model.ensemble.members.size();
  std::vector<float> mean(n), variance(n);
  out.each.resize(wants.members ? n * members : 0);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), n, 1);
  if (model.has_spread()) views.variance = MatrixView<float>(variance.data(), n, 1);
  if (wants.members) views.members = MatrixView<float>(out.each.data(), n, members);
  if (model.last_layers.empty())
    networks.predict(rows, views);
  else
    predict_last_layer(engine, model.ensemble, model.last_layers, rows, views);
  out.mean.assign(mean.begin(), mean.end());
  out.variance.assign(variance.begin(), variance.end());
  if (!wants.gradient) return;
  out.gradient.resize(n * rows.cols);
  networks.input_gradient(rows, MatrixView<float>(out.gradient.data(), n, rows.cols));
}

// A slope towards east and north (x and y) as a gradient of the row's coordinates, beside what is there and has this share [n].
void add_slope(const FieldModel& model, std::span<const double> share, MatrixView<const float> rows,
               MatrixView<const double> slope, Raw& out) {
  const std::size_t columns = rows.cols;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    float* to = out.gradient.data() + i * columns;
    std::array<double, 3> along = {slope(i, 0), slope(i, 1), 0.0};
    std::size_t space = 2;
    if (model.domain.kind == DomainKind::sphere) {
      space = 3;
      const float* s = rows.row(i);
      const double lon = std::atan2(static_cast<double>(s[1]), static_cast<double>(s[0]));
      const double sin_lat = static_cast<double>(s[2]),
                   cos_lat = std::hypot(static_cast<double>(s[0]), static_cast<double>(s[1]));
      along = {-std::sin(lon) * slope(i, 0) - sin_lat * std::cos(lon) * slope(i, 1),
               std::cos(lon) * slope(i, 0) - sin_lat * std::sin(lon) * slope(i, 1), cos_lat * slope(i, 1)};
    }
    for (std::size_t d = 0; d < columns; ++d) {
      const double added = d < space ? along.at(d) : slope(i, 2);
      to[d] = static_cast<float>(share[i] * static_cast<double>(to[d]) + (1.0 - share[i]) * added);
    }
  }
}

void blend_process(Engine& engine, const FieldModel& model, MatrixView<const float> rows, const PredictWants& wants, Raw& out) {
  const std::size_t n = rows.rows;
  std::vector<double> mean(n), variance(n), local(n), share(n), slope(wants.gradient ? 3 * n : 0);
  const MatrixView<double> slopes = wants.gradient ? MatrixView<double>(slope.data(), n, 3) : MatrixView<double>();
  model.process->predict(rows, {.mean = mean, .variance = variance, .gradient = slopes, .local = local}, engine.host_threads());
  if (out.mean.empty()) out.mean = mean;
  const double noise = model.info.noise_sd / sd_from_engine(model.domain, 1.0);
  out.variance.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const BlendedPoint point = blended(model.weight, mean[i], variance[i], out.mean[i], local[i]);
    out.mean[i] = point.mean, out.variance[i] = point.variance, share[i] = point.by_network;
    out.noise.push_back(local[i] * noise * noise);
  }
  if (!wants.gradient) return;
  out.gradient.resize(n * rows.cols);
  add_slope(model, share, rows, slopes, out);
}

// By central differences over a hundredth of the method's lengths each way (where it has none, of lengths that a map of the
// domain may show), so that it is the slope of the very mean that maps show.
void method_gradient(const FieldModel& model, MatrixView<const float> rows, const Workers& workers, Raw& out) {
  constexpr double kStep = 0.01, kSpaceLength = 0.1, kTimeLength = 0.5;
  const std::vector<double> lengths = model.method->lengthscales();
  const double space = kStep * (lengths.empty() ? kSpaceLength : std::clamp(lengths[0], 0.01, 10.0));
  const double time = kStep * (lengths.size() < 2 ? kTimeLength : std::clamp(lengths[1], 0.01, 10.0));
  const std::size_t n = rows.rows, directions = model.info.has_time ? 3 : 2;
  std::vector<float> points;
  std::vector<double> apart;
  for (std::size_t i = 0; i < n; ++i) {
    const LocalFrame frame(space_of(model.domain), model.info.has_time, rows.row(i), rows.cols);
    for (std::size_t d = 0; d < directions; ++d) {
      const double step = d < 2 ? space : time;
      const std::vector<float> up = frame.moved(d, step), down = frame.moved(d, -step);
      apart.push_back(frame(up.data()).at(d) - frame(down.data()).at(d));  // as single precision has it
      points.insert(points.end(), up.begin(), up.end());
      points.insert(points.end(), down.begin(), down.end());
    }
  }
  std::vector<double> mean(2 * n * directions), slope(3 * n);
  model.method->predict({points.data(), mean.size(), rows.cols}, {.mean = mean}, workers);
  for (std::size_t k = 0; k < apart.size(); ++k)
    slope[k / directions * 3 + k % directions] = (mean[2 * k] - mean[2 * k + 1]) / apart[k];
  out.gradient.assign(n * rows.cols, 0.0F);
  add_slope(model, std::vector<double>(n, 0.0), rows, {slope.data(), n, 3}, out);
}

void predict_method(Engine& engine, const FieldModel& model, MatrixView<const float> rows, const PredictWants& wants, Raw& out) {
  const std::size_t n = rows.rows;
  const Workers workers = {.threads = engine.host_threads(), .engine = &engine};
  std::vector<double> sd(n), total(n);
  out.mean.resize(n), out.variance.resize(n);
  model.method->predict(rows, {.mean = out.mean, .sd_epistemic = sd, .sd_total = total}, workers);
  for (std::size_t i = 0; i < n; ++i) {
    out.variance[i] = sd[i] * sd[i];
    if (model.method_noise) out.noise.push_back(std::max(0.0, total[i] * total[i] - sd[i] * sd[i]));
  }
  if (wants.gradient) method_gradient(model, rows, workers, out);
}

// Fills the results of some of the known positions, first to first + count.
class BlockPredictor {
 public:
  BlockPredictor(Engine& engine, Predictor* networks, const FieldModel& model, const PredictWants& wants, const Known& known,
                 FieldPrediction& out)
      : engine_(engine), networks_(networks), model_(model), wants_(wants), known_(known), out_(out) {}

  void predict(std::size_t first, std::size_t count) {
    const auto columns = static_cast<std::size_t>(model_.ensemble.spec.coordinates());
    const auto lon = std::span(known_.lon_deg).subspan(first, count), lat = std::span(known_.lat_deg).subspan(first, count);
    const std::span<const double> time =
        known_.time_days.size() > 1 ? std::span(known_.time_days).subspan(first, count) : std::span(known_.time_days);
    std::vector<float> rows(count * columns);
    const MatrixView<float> row_view(rows.data(), count, columns);
    engine_rows(model_.domain, lon, lat, time, row_view);
    Raw raw;
    if (networks_ != nullptr) predict_networks(engine_, *networks_, model_, row_view, wants_, raw);
    if (model_.process) blend_process(engine_, model_, row_view, wants_, raw);
    if (model_.method) predict_method(engine_, model_, row_view, wants_, raw);
    keep(std::span(known_.index).subspan(first, count), raw);
    if (!wants_.gradient) return;
    std::vector<GroundGradient> ground(count);
    ground_gradient(model_.domain, lon, lat, MatrixView<const float>(raw.gradient.data(), count, columns), ground);
    for (std::size_t i = 0; i < count; ++i) out_.gradient[known_.index[first + i]] = ground[i];
  }

 private:
  void keep(std::span<const std::size_t> index, const Raw& raw) {
    const Standard& value = model_.domain.value;
    const std::size_t n = out_.mean.size(), members = model_.ensemble.members.size();
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::size_t to = index[i];
      if (!std::isfinite(raw.mean[i]) || !(raw.variance.empty() || std::isfinite(raw.variance[i])))
        throw Error(
            fmt::format("the model predicts no finite number at point {}: its file is damaged, or training diverged", to));
      out_.mean[to] = value.from_engine(raw.mean[i]);
      if (model_.has_spread()) {
        const double sd = model_.info.spread_scale * sd_from_engine(model_.domain, std::sqrt(raw.variance[i]));
        out_.sd_epistemic[to] = sd;
        const double noise = raw.noise.empty() ? model_.info.noise_sd : sd_from_engine(model_.domain, std::sqrt(raw.noise[i]));
        out_.sd_total[to] = std::hypot(sd, noise);
      }
      for (std::size_t m = 0; wants_.members && m < members; ++m) {
        out_.members[m * n + to] = value.from_engine(raw.each[i * members + m]);
      }
    }
  }

  Engine& engine_;
  Predictor* networks_;  // null: the model has none
  const FieldModel& model_;
  const PredictWants& wants_;
  const Known& known_;
  FieldPrediction& out_;
};

}  // namespace

FieldPredictor::FieldPredictor(Engine& engine, const FieldModel& model)
    : engine_(engine), model_(model), networks_(model.ensemble.members.empty() ? nullptr : engine.prepare(model.ensemble)) {}

FieldPrediction predict_field(Engine& engine, const FieldModel& model, std::span<const double> lon_deg,
                              std::span<const double> lat_deg, std::span<const double> time_days, const PredictWants& wants,
                              const Control& control) {
  return FieldPredictor(engine, model)(lon_deg, lat_deg, time_days, wants, control);
}

FieldPrediction FieldPredictor::operator()(std::span<const double> lon_deg, std::span<const double> lat_deg,
                                           std::span<const double> time_days, const PredictWants& wants,
                                           const Control& control) const {
  const FieldModel& model = model_;
  check_lengths(model, lon_deg, lat_deg, time_days);
  if (wants.members && model.ensemble.members.empty()) {
    throw UsageError(fmt::format("prediction: the model is {} alone and has no members; leave --members out",
                                 model.method ? "the method " + model.method_text : "a process"));
  }
  const Known known = known_positions(lon_deg, lat_deg, time_days);
  const std::size_t n = lon_deg.size(), count = known.index.size();
  FieldPrediction out;
  out.mean.assign(n, kNone);
  if (model.has_spread()) {
    out.sd_epistemic.assign(n, kNone);
    out.sd_total.assign(n, kNone);
  }
  if (wants.members) out.members.assign(n * model.ensemble.members.size(), kNone);
  if (wants.gradient) out.gradient.assign(n, {std::nan(""), std::nan(""), std::nan("")});
  BlockPredictor predictor(engine_, networks_.get(), model, wants, known, out);
  const bool on_gpu = engine_.name() == "cuda";
  const std::size_t block = model.process || model.method ? kProcessBlock : on_gpu ? kGpuBlock : kCpuBlock;
  for (std::size_t first = 0; first < count; first += block) {
    control.check_stop("stopped while predicting");
    const std::size_t some = std::min(block, count - first);
    predictor.predict(first, some);
    control.report(static_cast<double>(first + some) / static_cast<double>(count), "predicting");
  }
  return out;
}

}  // namespace drift
