#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drift/predict.h"

namespace drift {

// Significant digits to which values of this mean and sd are worth keeping: down to 1e-5 of the sd, a hundredth of an uncertainty
// of a thousandth of it. Seven at least, seventeen (all that a double has) at most.
int digits_worth_keeping(const Standard& value);

// The layers of a model's maps and tables, and how each follows from a prediction.
class LayerMaker {
 public:
  LayerMaker(const FieldModel& model, const PredictWants& wants);

  const std::vector<FieldLayer>& layers() const { return layers_; }
  const GradientLacks& lacks() const { return lacks_; }

  // Calls take(layer, member, values [n]) for each layer in order, and each member of one.
  using Take = std::function<void(std::size_t layer, std::size_t member, std::span<const double> values)>;
  void each(const FieldPrediction& prediction, std::span<const double> lat_deg, const Take& take) const;

 private:
  using Source = std::function<double(const FieldPrediction&, std::size_t i, double lat_deg)>;

  void add(FieldLayer layer, Source source);
  void add_interval(const FieldModel& model, const std::string& name, const std::string& what);
  void add_gradient(const FieldModel& model, double scale, const std::string& name, const std::string& what);
  void add_currents(const SeaSurfaceHeight& height);
  // A slope, or a current that follows from it, and its standard deviation where slopes have one.
  void add_slope(FieldLayer layer, Source slope, Source sd);

  std::string unit_;
  int digits_;        // of the value itself, members and intervals
  std::string over_;  // of slopes: "over 40 km"; empty: of the mean itself
  bool has_slope_sd_ = false;
  std::size_t members_ = 0;
  GradientLacks lacks_;
  std::vector<FieldLayer> layers_;
  std::vector<Source> sources_;  // of all layers but the members'
};

}  // namespace drift
