// Predictions at points, with their layers. Points are taken in parts, so that positions of any precision need no copy and raw
// predictions, which hold more than the layers, no memory to speak of.

#include <algorithm>
#include <vector>

#include "core/blocks.h"
#include "drift/predict.h"
#include "fields/goes_with.h"
#include "fields/layers.h"

namespace drift {
namespace {

// The part itself, or its conversion, kept in `converted`.
std::span<const double> as_double(std::span<const double> part, std::vector<double>&) { return part; }
std::span<const double> as_double(std::span<const float> part, std::vector<double>& converted) {
  converted.assign(part.begin(), part.end());
  return converted;
}

template <class Number>
PointLayers layers_at(Engine& engine, const FieldModel& model, std::span<const Number> lon_deg, std::span<const Number> lat_deg,
                      std::span<const double> time_days, const PredictWants& wants, const Control& control) {
  check_lengths(model, lon_deg.size(), lat_deg.size(), time_days.size());
  const LayerMaker layers(model, wants);
  const std::size_t n = lon_deg.size();
  PointLayers out = {.layers = layers.layers(), .values = {}, .lacks = layers.lacks()};
  for (const FieldLayer& layer : out.layers) out.values.emplace_back(n * std::max<std::size_t>(1, layer.members));
  const FieldPredictor predict(engine, model);
  std::vector<double> lon_part, lat_part;
  for_blocks(n, [&](std::size_t first, std::size_t count) {
    const std::span<const double> lon = as_double(lon_deg.subspan(first, count), lon_part),
                                  lat = as_double(lat_deg.subspan(first, count), lat_part),
                                  time = time_days.size() > 1 ? time_days.subspan(first, count) : time_days;
    const auto share = [&](std::size_t done) { return static_cast<double>(done) / static_cast<double>(n); };
    const FieldPrediction part = predict(lon, lat, time, wants, control.part(share(first), share(first + count)));
    layers.each(part, lat, [&](std::size_t layer, std::size_t member, std::span<const double> values) {
      std::copy(values.begin(), values.end(), out.values[layer].begin() + static_cast<std::ptrdiff_t>(member * n + first));
    });
  });
  return out;
}

}  // namespace

PointLayers predict_at(Engine& engine, const FieldModel& model, std::span<const double> lon_deg, std::span<const double> lat_deg,
                       std::span<const double> time_days, const PredictWants& wants, const Control& control) {
  return layers_at(engine, model, lon_deg, lat_deg, time_days, wants, control);
}

PointLayers predict_at(Engine& engine, const FieldModel& model, std::span<const float> lon_deg, std::span<const float> lat_deg,
                       std::span<const double> time_days, const PredictWants& wants, const Control& control) {
  return layers_at(engine, model, lon_deg, lat_deg, time_days, wants, control);
}

}  // namespace drift
