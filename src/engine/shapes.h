#pragma once

#include "drift/engine.h"

namespace drift {

// Entries of a member's moments: its parameters and, of variational weights, their log sds.
std::size_t trained_numbers(const Member& member);

// Throw UsageError, quoting both sides, where arrays do not fit the ensemble or each other.
void check_shapes(const Ensemble& ensemble, const TrainingSet& data);
void check_shapes(const Ensemble& ensemble, const TrainingState& state);
void check_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out);
void check_head_shapes(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                       MatrixView<float> inputs);
void check_gradient_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient);

}  // namespace drift
