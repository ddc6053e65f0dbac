#pragma once

#include "drift/engine.h"

namespace drift {

// Throw UsageError, quoting both sides, where arrays do not fit the ensemble or each other.
void check_shapes(const Ensemble& ensemble, const TrainingSet& data);
void check_shapes(const Ensemble& ensemble, const TrainingState& state);
void check_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out);
void check_gradient_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient);

}  // namespace drift
