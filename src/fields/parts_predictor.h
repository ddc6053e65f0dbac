#pragma once

#include <vector>

#include "fields/part.h"

namespace drift {

// Forecasts of a model's parts, blended, at a moderate number of rows at a time. The parts are prepared once. Engine and model
// must outlive it. Calls may come from several threads.
class [[gnu::visibility("hidden")]] PartsPredictor {
 public:
  PartsPredictor(Engine & engine, const FieldModel& model);
  // All variances have the factor of the local spread.
  PartForecast operator()(MatrixView<const float> rows, const PartWants& wants = {}) const;

  const FieldModel& model() const { return model_; }
  std::size_t block() const;  // points between looks at the stop

 private:
  const FieldModel& model_;
  std::vector<PreparedPart> parts_;
};

}  // namespace drift
