#pragma once

#include "drift/engine.h"

namespace drift {

// Entries of a member's moments: its parameters and, of variational weights, their log sds.
std::size_t trained_numbers(const Member& member);

// Throws UsageError, naming the member, unless every member's arrays have the lengths that the spec's plan lays out, all members
// or none are variational, lengthscales are finite and positive, and amplitudes finite. Costs microseconds: every entry of an
// engine calls it, through the functions below, so that no kernel reads beyond an array.
void check_ensemble(const Ensemble& ensemble);

// Throw UsageError, quoting both sides, where arrays do not fit the ensemble or each other; Error, naming the row, for points to
// predict at that are no unit vectors on the sphere. Each checks the ensemble too, except against a training state.
void check_shapes(const Ensemble& ensemble, const TrainingSet& data);
void check_shapes(const Ensemble& ensemble, const TrainingState& state);
void check_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out);
void check_head_shapes(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                       MatrixView<float> inputs);
// The inputs of all members, side by side; returns how many each has.
std::size_t check_all_head_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> inputs);
void check_gradient_shapes(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient);

}  // namespace drift
