#pragma once

#include <memory>
#include <vector>

#include "drift/field_model.h"
#include "drift/predict.h"

namespace drift {

// Predictions of the parts of a model, put together, in the engine's units.
struct PartsForecast {
  std::vector<double> mean;      // [n]
  std::vector<double> variance;  // [n] of the field, as it comes; empty without a spread
  std::vector<double> local;     // [n] factor of the local spread, on the noise too; empty without a process
  std::vector<double> noise;     // [n] variance of a new observation's error by a method that knows it; else empty
  std::vector<float> each;       // [n, members] if wanted
  std::vector<float> gradient;   // [n, columns] if wanted

  // At `around`, four points to each row: two pairs.
  std::vector<double> around_mean;          // [4 n]
  std::vector<double> difference_variance;  // [2 n] of the field's difference between a pair; empty: not known
};

// Of a model's networks, process or other method at rows of coordinates, a moderate number at a time. The networks are prepared
// once. Engine and model must outlive it. Calls may come from several threads.
class [[gnu::visibility("hidden")]] PartsPredictor {
 public:
  PartsPredictor(Engine & engine, const FieldModel& model);
  // `around` [4 n, columns], if any: further points, four to a row.
  PartsForecast operator()(MatrixView<const float> rows, const PredictWants& wants = {}, MatrixView<const float> around = {})
      const;

  Engine& engine() const { return engine_; }
  const FieldModel& model() const { return model_; }

 private:
  void add_networks(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around, PartsForecast& out)
      const;
  void add_networks_around(MatrixView<const float> around, PartsForecast & out) const;
  void add_process(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around, PartsForecast& out)
      const;
  void add_method(MatrixView<const float> rows, const PredictWants& wants, MatrixView<const float> around, PartsForecast& out)
      const;

  Engine& engine_;
  const FieldModel& model_;
  std::unique_ptr<Predictor> networks_;  // null: the model has none
};

}  // namespace drift
