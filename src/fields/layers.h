#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drift/predict.h"

namespace drift {

// The layers of a model's maps and tables, and how each follows from a prediction.
class LayerMaker {
 public:
  LayerMaker(const FieldModel& model, const PredictWants& wants);

  const std::vector<FieldLayer>& layers() const { return layers_; }
  const std::string& no_currents() const { return no_currents_; }

  // Calls take(layer, member, values [n]) for each layer in order, and each member of one.
  using Take = std::function<void(std::size_t layer, std::size_t member, std::span<const float> values)>;
  void each(const FieldPrediction& prediction, std::span<const double> lat_deg, const Take& take) const;

 private:
  using Source = std::function<float(const FieldPrediction&, std::size_t i, double lat_deg)>;

  void add(FieldLayer layer, Source source);
  void add_interval(const FieldModel& model, const std::string& name, const std::string& what);
  void add_gradient(const FieldModel& model, const std::string& name, const std::string& what);
  void add_currents(const SeaSurfaceHeight& height);

  std::string unit_;
  std::size_t members_ = 0;
  std::string no_currents_;
  std::vector<FieldLayer> layers_;
  std::vector<Source> sources_;  // of all layers but the members'
};

}  // namespace drift
