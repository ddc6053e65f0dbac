#include "fields/model_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "drift/interpolator.h"
#include "fields/blended_point.h"
#include "process/place_finder.h"
#include "process/process.h"

namespace drift {
namespace {

// A slope towards east and north (x and y) as a gradient of the row's coordinates, beside what is there and has this share [n].
void add_slope(const FieldModel& model, std::span<const double> share, MatrixView<const float> rows,
               MatrixView<const double> slope, PartsForecast& out) {
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

// By central differences over a hundredth of the method's lengths each way (where it has none, of lengths that a map of the
// domain may show), so that it is the slope of the very mean that maps show.
void method_gradient(const FieldModel& model, MatrixView<const float> rows, const Workers& workers, PartsForecast& out) {
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

}  // namespace

PartsPredictor::PartsPredictor(Engine& engine, const FieldModel& model)
    : engine_(engine), model_(model), networks_(model.ensemble.members.empty() ? nullptr : engine.prepare(model.ensemble)) {}

PartsForecast PartsPredictor::operator()(MatrixView<const float> rows, const PredictWants& wants,
                                         MatrixView<const float> around) const {
  PartsForecast out;
  if (networks_) add_networks(rows, wants, around, out);
  if (model_.process) add_process(rows, wants, around, out);
  if (model_.method) add_method(rows, wants, around, out);
  return out;
}

void PartsPredictor::add_networks(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around,
                                  PartsForecast& out) const {
  const std::size_t n = rows.rows, members = model_.ensemble.members.size();
  std::vector<float> mean(n), variance(n);
  out.each.resize(wants.members ? n * members : 0);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), n, 1);
  if (model_.has_spread()) views.variance = MatrixView<float>(variance.data(), n, 1);
  if (wants.members) views.members = MatrixView<float>(out.each.data(), n, members);
  if (model_.last_layers.empty())
    networks_->predict(rows, views);
  else
    predict_last_layer(*networks_, model_.ensemble, model_.last_layers, rows, views, engine_.host_threads());
  out.mean.assign(mean.begin(), mean.end());
  if (model_.has_spread()) out.variance.assign(variance.begin(), variance.end());
  if (!around.empty()) add_networks_around(around, out);
  if (!wants.gradient) return;
  out.gradient.resize(n * rows.cols);
  networks_->input_gradient(rows, MatrixView<float>(out.gradient.data(), n, rows.cols));
}

// The variance of a difference is that between the members' differences, as the field's is that between the members, and that
// within them where the last layers have a posterior.
void PartsPredictor::add_networks_around(MatrixView<const float> around, PartsForecast& out) const {
  const std::size_t members = model_.ensemble.members.size();
  const bool spread = !model_.process && model_.has_spread();  // a blend's is its process's
  const bool between = spread && members > 1;
  std::vector<float> mean(around.rows), each(between ? around.rows * members : 0);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), around.rows, 1);
  if (between) views.members = MatrixView<float>(each.data(), around.rows, members);
  networks_->predict(around, views);
  out.around_mean.assign(mean.begin(), mean.end());
  out.difference_variance.assign(spread ? around.rows / 2 : 0, 0.0);
  for (std::size_t pair = 0; between && pair < around.rows / 2; ++pair) {
    const double difference = out.around_mean[2 * pair + 1] - out.around_mean[2 * pair];
    double square = 0.0;
    for (std::size_t m = 0; m < members; ++m) {
      const double own =
          static_cast<double>(each[(2 * pair + 1) * members + m]) - static_cast<double>(each[2 * pair * members + m]);
      square += (own - difference) * (own - difference);
    }
    out.difference_variance[pair] = square / static_cast<double>(members - 1);
  }
  if (spread && !model_.last_layers.empty())
    add_last_layer_differences(*networks_, model_.ensemble, model_.last_layers, around, out.difference_variance,
                               engine_.host_threads());
}

void PartsPredictor::add_process(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around,
                                 PartsForecast& out) const {
  const std::size_t n = rows.rows;
  std::vector<double> mean(n), variance(n), share(n), slope(wants.gradient ? 3 * n : 0), around_mean(around.rows);
  const MatrixView<double> slopes = wants.gradient ? MatrixView<double>(slope.data(), n, 3) : MatrixView<double>();
  out.local.resize(n);
  out.difference_variance.resize(around.rows / 2);
  model_.process->predict(rows,
                          {.mean = mean,
                           .variance = variance,
                           .gradient = slopes,
                           .local = out.local,
                           .around = around,
                           .around_mean = around_mean,
                           .difference_variance = out.difference_variance},
                          engine_.host_threads());
  if (out.mean.empty()) out.mean = mean, out.around_mean = around_mean;
  out.variance.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const BlendedPoint point = blended(model_.weight, mean[i], variance[i], out.mean[i], out.local[i]);
    for (std::size_t pair = 2 * i; pair < 2 * i + 2 && !around.empty(); ++pair) {
      double& difference = out.difference_variance[pair];
      std::array<double, 2> apart = {};
      for (const std::size_t end : {0U, 1U}) {
        const double process = around_mean[2 * pair + end];
        double& network = out.around_mean[2 * pair + end];
        apart.at(end) = network - process;
        network = blended(model_.weight, process, 0.0, network).mean;
      }
      difference =
          out.local[i] * (difference + point.share * (1.0 - point.share) * (apart[1] - apart[0]) * (apart[1] - apart[0]));
    }
    out.mean[i] = point.mean, out.variance[i] = point.variance, share[i] = point.by_network;
  }
  if (!wants.gradient) return;
  out.gradient.resize(n * rows.cols);
  add_slope(model_, share, rows, slopes, out);
}

void PartsPredictor::add_method(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around,
                                PartsForecast& out) const {
  const std::size_t n = rows.rows;
  const Workers workers = {.threads = engine_.host_threads(), .engine = &engine_};
  std::vector<double> sd(n), total(n);
  out.mean.resize(n), out.variance.resize(n);
  model_.method->predict(rows, {.mean = out.mean, .sd_epistemic = sd, .sd_total = total}, workers);
  for (std::size_t i = 0; i < n; ++i) {
    out.variance[i] = sd[i] * sd[i];
    if (model_.method_noise) out.noise.push_back(std::max(0.0, total[i] * total[i] - sd[i] * sd[i]));
  }
  out.around_mean.resize(around.rows);
  if (!around.empty()) model_.method->predict(around, {.mean = out.around_mean}, workers);
  if (wants.gradient) method_gradient(model_, rows, workers, out);
}

}  // namespace drift
