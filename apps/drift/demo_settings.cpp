#include <cmath>

#include "demo.h"

namespace {

// Sizes that let the demonstration end in about a minute on two cores, and those of the paper's first experiment.
constexpr std::size_t kObservations = 160000, kFullObservations = 1162655;
constexpr std::size_t kMembers = 4, kFullMembers = 10;
constexpr double kEpochs = 3.0, kFullEpochs = 1.0;

drift::NetworkSpec chosen_spec(const DemoOptions& options) {
  if (options.recipe == "paper") {
    return drift::paper_spec(options.space_lengthscale.value_or(1.0), options.time_lengthscale.value_or(1.0),
                             options.amplitude.value_or(1.0));
  }
  drift::NetworkSpec spec = drift::default_spec(drift::Space::plane, 2, true);
  if (options.space_lengthscale) spec.spatial.lengthscales = {*options.space_lengthscale};
  if (options.time_lengthscale) spec.temporal.lengthscales = {*options.time_lengthscale};
  for (drift::ChainSpec* chain : {&spec.spatial, &spec.temporal}) {
    if (options.amplitude) chain->amplitude = chain->hidden_amplitude = *options.amplitude;
  }
  return spec;
}

}  // namespace

DemoSettings settle(const DemoOptions& options) {
  DemoSettings settings;
  settings.observations = options.observations.value_or(options.full ? kFullObservations : kObservations);
  settings.members = options.members.value_or(options.full ? kFullMembers : kMembers);
  settings.spec = chosen_spec(options);
  if (options.layers) settings.spec.spatial.layers = *options.layers;
  if (options.features) settings.spec.features = *options.features;
  if (options.bottleneck) {
    // The paper's hidden lengthscale is an absolute one: it must not follow the bottleneck's width.
    const double narrower = std::sqrt(static_cast<double>(settings.spec.bottleneck) / *options.bottleneck);
    if (options.recipe == "paper") settings.spec.spatial.hidden_lengthscale *= narrower;
    settings.spec.bottleneck = *options.bottleneck;
  }
  drift::check(settings.spec);

  settings.recipe = options.recipe == "paper" ? drift::paper_recipe() : drift::default_recipe();
  settings.recipe.epochs = options.epochs.value_or(options.full || options.recipe == "paper" ? kFullEpochs : kEpochs);
  if (options.batch) settings.recipe.batch = *options.batch;
  if (options.rate) settings.recipe.rate = *options.rate;
  if (options.muon_rate) settings.recipe.muon_rate = *options.muon_rate;
  drift::check(settings.recipe);
  return settings;
}
