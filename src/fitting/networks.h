#pragma once

#include <vector>

#include "drift/fit.h"

namespace drift {

// The plan's networks before training, made variational where its uncertainty asks for it.
Ensemble draw_networks(const FitPlan& plan);

// After training: where the spread is not that of independent networks, the draws it comes from take their place, or the
// posteriors are returned, one per member.
std::vector<LastLayerPosterior> add_uncertainty(Engine& engine, const FitPlan& plan, const TrainingSet& rows, Ensemble& ensemble,
                                                const Control& control = {});

// Description of the field and observations of a plan's model; noise and spread are estimated later.
FieldInfo describe_field(const FitPlan& plan, const Dataset& data);

}  // namespace drift
