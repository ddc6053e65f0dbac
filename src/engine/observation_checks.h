#pragma once

#include "drift/engine.h"

namespace drift {

// Throws Error, naming the row, for the first observation that cannot be trained on: a coordinate, value or weight that is not
// finite, a negative weight, or a position that is no unit vector on the sphere; also when no weight is above zero. The shapes
// must have been checked.
void check_observations(const NetworkSpec& spec, const TrainingSet& data);

// Throws Error, naming the row and its length, for the first point to predict at that is no unit vector on the sphere (to one
// part in a thousand). One pass over three numbers a row.
void check_points(const NetworkSpec& spec, MatrixView<const float> coordinates);

}  // namespace drift
