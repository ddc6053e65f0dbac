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

// What a model of this plan says of its field and observations; noise and spread are still to be settled.
FieldInfo describe_field(const FitPlan& plan, const Dataset& data);

}  // namespace drift
