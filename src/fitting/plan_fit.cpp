// Settles what a run leaves open, from the observations alone: the same on every machine. Split, folds and domain are in
// plan_split.cpp; method, networks and training here.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "drift/grouped.h"
#include "drift/interpolator.h"
#include "fitting/foresee_memory.h"
#include "fitting/length_text.h"
#include "fitting/neighbours.h"
#include "fitting/plan_identity.h"
#include "fitting/plan_split.h"
#include "fitting/replan.h"
#include "fitting/stopped.h"
#include "network/plan.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

constexpr double kWork = 24e6;  // member-observations that a fit sees: 6 to 10 minutes on two cores
constexpr double kMostEpochs = 60.0;
constexpr double kBlendWork = 4e6;  // member-observations beside a process: a quarter of the training predicts as well
constexpr double kBlendMostEpochs = 8.0;
constexpr double kBlendSteps = 1000.0;
constexpr std::size_t kFewForBlend = 20000;
constexpr std::size_t kQuickMembers = 5;
constexpr double kSteps = 3000.0;         // as many as small data need to be learnt
constexpr double kMostNoise = 0.7;        // of the values' sd: beyond, hardly anything would be learnt
constexpr double kTimeLengthscale = 4.0;  // of product coupling, per layer, in standard deviations of the times

// "1 layer", "4 layers"
std::string counted(double number, const char* noun) { return fmt::format("{:g} {}{}", number, noun, number == 1.0 ? "" : "s"); }

// Runs of consecutive rows, so that neighbours along tracks stay together: enough to tell the noise.
std::vector<std::size_t> some_runs(const std::vector<std::size_t>& rows) {
  constexpr std::size_t kRuns = 20, kRun = 1000;
  std::vector<std::size_t> some;
  const std::size_t from_one_to_next = std::max(kRun, rows.size() / kRuns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % from_one_to_next < kRun) some.push_back(rows[i]);
  }
  return some;
}

void check_values(const Observations& observations) {
  const std::size_t n = observations.size();
  if (n < kFewestObservations) {
    throw Error(fmt::format("only {} observations are left, and a field needs at least {}; look at the files with drift inspect",
                            n, kFewestObservations));
  }
  const auto [least, most] = std::minmax_element(observations.value.begin(), observations.value.end());
  if (*least == *most) {
    throw Error(fmt::format("all {} values are {}: there is no field to learn; is it the right variable?",
                            grouped(static_cast<double>(n)), *least));
  }
}

class Planner {
 public:
  Planner(const RunSettings& settings, const Dataset& data, Control control = {})
      : observations_(data.observations), data_(data), control_(std::move(control)) {
    plan_.settings = settings;
    plan_.test = data.test;
  }

  // From a plan that stands, for other settings.
  FitPlan again(const FitPlan& plan, std::size_t training) && {
    const RunSettings settings = std::move(plan_.settings);
    plan_ = plan;
    plan_.settings = settings;
    plan_.choices.clear();
    const bool out_of_fold = plan_.out_of_fold;
    choose_method(Judging::held_out);
    plan_.out_of_fold = out_of_fold;
    fit_folds_to_members(plan_);
    choose_network(plan.spec.temporal.layers > 0, plan.spec.spatial.lengthscales[0]);
    choose_training(training, plan.recipe.noise_sd);
    return std::move(plan_);
  }

  FitPlan plan(Judging judging) && {
    check_values(observations_);
    choose_method(judging);
    choose_split(data_, plan_, control_);
    control_.check_stop();
    choose_folds(data_, plan_, control_);
    control_.check_stop();
    drift::choose_domain(data_, plan_);
    const bool time = time_varies();
    control_.check_stop();
    choose_network(time, usual_lengthscale(time));
    control_.check_stop();
    choose_training(plan_.split.training.size(), noise_of_observations());
    foresee_memory(plan_, observations_.size());
    control_.check_stop();
    plan_.fingerprint = fingerprint();
    return std::move(plan_);
  }

 private:
  void choose_method(Judging judging) {
    const RunSettings& wanted = plan_.settings;
    const bool other_spread = wanted.uncertainty.method != UncertaintyMethod::ensemble;
    const bool alone = by_paper(plan_) || other_spread || wanted.model.members == 1u || wanted.train.loss != LossKind::squared;
    const FitMethod usual = alone ? FitMethod::network : wanted.fit.quick ? FitMethod::process : FitMethod::blend;
    plan_.method = wanted.fit.method.value_or(usual).parts;
    note_quick();
    if (plan_.method == FitMethod::blend && (other_spread || wanted.model.members == 1u)) {
      throw UsageError(other_spread
                           ? "[fit] method: a blend takes its spread from the process and the networks' folds; leave "
                             "--uncertainty out, or use --method network"
                           : "[fit] method: a blend needs at least two networks; raise --members, or use --method process");
    }
    const SplitSettings& split = wanted.split;
    const bool can = plan_.method == FitMethod::blend || plan_.method == FitMethod::process;
    plan_.out_of_fold = judging == Judging::automatic && can && !split.method && !split.held_out && split.platforms.empty();
  }

  // The process alone is a blend's smaller part of the work and most of its worth; networks that are asked for are fewer and are
  // trained as briefly as those of a blend.
  void note_quick() {
    if (!plan_.settings.fit.quick) return;
    if (by_paper(plan_) || plan_.method == FitMethod::other) {
      throw UsageError(
          "[fit] quick is for drift's own recipe and parts: leave out --quick, or --recipe paper and the other method");
    }
    const bool ensemble = plan_.settings.uncertainty.method == UncertaintyMethod::ensemble;
    if (!has_networks(plan_)) {
      note(plan_, "Quick: the process alone, without networks.");
    } else if (ensemble) {
      note(plan_, "Quick: {}, trained briefly.",
           counted(static_cast<double>(plan_.settings.model.members.value_or(kQuickMembers)), "network"));
    } else {
      note(plan_, "Quick: trained briefly.");
    }
  }

  void note_method() {
    const FitChoice& choice = *plan_.settings.fit.method;
    if (plan_.settings.tune.method == TuneMethod::bayes)
      throw UsageError(
          fmt::format("[tune] method: drift searches for settings of its networks, not of {}; leave --tune out", choice.name));
    for (const MethodInfo& info : method_infos()) {
      if (info.name == choice.name) note(plan_, "Model: {}, {}: {}.", text_of(choice), info.title, info.summary);
    }
    note(plan_, "Checkpoints: none; if stopped, a fit of this method starts afresh.");
  }

  bool time_varies() {
    const std::vector<double>& times = observations_.time_days;
    if (times.empty()) {
      note(plan_, "Time: none in the files; the field does not vary in time.");
      return false;
    }
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    if (*first == *last) note(plan_, "Time: the same for all observations; the field does not vary in time.");
    return *first < *last;
  }

  // Of a network with time.
  bool by_product() const {
    return plan_.settings.model.coupling.value_or(by_paper(plan_) ? Coupling::additive : Coupling::product) == Coupling::product;
  }
  // Lengthscales of product coupling grow with the layers: deep chains want them several times those of the field. Four layers on
  // three days of wave heights: RMSE 0.746 m with 1,000 km and 2 days, 0.663 m with 8,000 km and 16 days, but two layers 0.685 m
  // with 2,000 km and 4 days; on twenty days of sea level 0.0395 m with 202 km and 6 days, 0.0300 m with 808 km and 93 days.
  double depth_factor() const { return static_cast<double>(layers()); }
  // Beside a process, few observations want few layers: on 8,600 of sea level two predict as well as four in half the time.
  std::size_t layers() const {
    const bool few = plan_.method == FitMethod::blend && plan_.split.training.size() < kFewForBlend;
    return plan_.settings.model.layers.value_or(few ? 2 : 4);
  }

  // In the engine's units. Sparse tracks want longer lengthscales than dense ones: 22 times the mean distance from an observation
  // to the nearest one of another track came near the best of trials on both (docs/notes/defaults.md). The sphere's unit is a
  // radian.
  double usual_lengthscale(bool time) const {
    if (by_paper(plan_)) return 1.0;
    if (plan_.settings.model.lengthscale) return 0.0;  // it is not asked for
    const double gap = gap_between_tracks(plan_.domain, observations_, plan_.split.training, plan_.settings.threads, control_);
    const bool sphere = plan_.domain.kind == DomainKind::sphere;
    const double usual = sphere ? std::clamp(22.0 * gap, 0.05, 0.45) : std::clamp(22.0 * gap, 0.1, 0.4);
    return time && by_product() ? depth_factor() * usual : usual;
  }

  // The network with its lengthscales, before the settings' sizes.
  NetworkSpec unscaled_spec(bool time, double usual_length) const {
    const ModelSettings& wanted = plan_.settings.model;
    NetworkSpec spec = default_spec(space_of(plan_.domain), space_coordinates(plan_.domain), time);
    const double space_length = wanted.lengthscale ? lengthscale_to_engine(plan_.domain, *wanted.lengthscale) : usual_length;
    const double usual_time = by_product() ? kTimeLengthscale * depth_factor() : 1.0;
    const double time_length =
        wanted.time_lengthscale_days ? time_lengthscale_to_engine(plan_.domain, *wanted.time_lengthscale_days) : usual_time;
    if (by_paper(plan_)) {
      spec = paper_spec(space_length, time_length, 1.0);
      spec.space = space_of(plan_.domain);
      spec.space_coordinates = space_coordinates(plan_.domain);
      spec.temporal.layers = time ? 1 : 0;
    }
    spec.coupling = time && by_product() ? Coupling::product : Coupling::additive;
    spec.spatial.lengthscales = {space_length};
    spec.temporal.lengthscales = {time_length};
    return spec;
  }

  // Skips, and the depth of the parts that only additive coupling has.
  void choose_connections(NetworkSpec& spec) const {
    const ModelSettings& wanted = plan_.settings.model;
    spec.skip = !wanted.no_skip;
    for (const auto& [key, layers] : {std::pair{"time_layers", wanted.time_layers}, {"joint_layers", wanted.joint_layers}}) {
      if (!layers.has_value() || (spec.temporal.layers > 0 && spec.coupling == Coupling::additive)) continue;
      throw UsageError(fmt::format("[model] {}: {}", key,
                                   spec.temporal.layers == 0
                                       ? "the field does not vary in time; leave it out"
                                       : "with product coupling every layer sees both space and time; use --coupling additive"));
    }
    if (wanted.time_layers) spec.temporal.layers = static_cast<int>(*wanted.time_layers);
    if (wanted.joint_layers) spec.joint.layers = static_cast<int>(*wanted.joint_layers);
  }

  void choose_network(bool time, double usual_length) {
    const ModelSettings& wanted = plan_.settings.model;
    NetworkSpec spec = unscaled_spec(time, usual_length);
    if (!by_paper(plan_) || wanted.layers) spec.spatial.layers = static_cast<int>(layers());
    if (wanted.features) spec.features = static_cast<int>(*wanted.features);
    if (wanted.bottleneck) {
      // The paper's hidden lengthscale is an absolute one: it does not follow the bottleneck's width.
      const double narrower = std::sqrt(static_cast<double>(spec.bottleneck) / static_cast<double>(*wanted.bottleneck));
      if (by_paper(plan_)) spec.spatial.hidden_lengthscale *= narrower;
      spec.bottleneck = static_cast<int>(*wanted.bottleneck);
    }
    if (wanted.hidden_lengthscale) spec.spatial.hidden_lengthscale = *wanted.hidden_lengthscale;
    choose_connections(spec);
    const Covariance covariance = {wanted.covariance, wanted.nu};
    for (ChainSpec* chain : {&spec.spatial, &spec.temporal, &spec.joint}) {
      if (chain == &spec.joint && chain->layers == 0) continue;
      chain->covariance = chain->hidden_covariance = covariance;
      if (wanted.amplitude) chain->amplitude = chain->hidden_amplitude = *wanted.amplitude;
      if (wanted.hidden_amplitude) {
        chain->hidden_amplitude = *wanted.hidden_amplitude;
        if (chain != &spec.spatial) chain->amplitude = *wanted.hidden_amplitude;
      }
    }
    check(spec);
    plan_.spec = spec;
    const UncertaintyMethod method = plan_.settings.uncertainty.method;
    const bool drawn = method == UncertaintyMethod::variational || method == UncertaintyMethod::dropout;
    plan_.members = wanted.members.value_or(drawn ? 1 : plan_.settings.fit.quick ? kQuickMembers : kUsualMembers);
    const double length = lengthscale_from_engine(plan_.domain, spec.spatial.lengthscales[0]);
    if (plan_.method == FitMethod::other) note_method();
    if (!has_networks(plan_)) return;
    note(plan_, "Model: {} of {}, {} features, bottlenecks of {}; lengthscale {} {}{}.",
         counted(static_cast<double>(plan_.members), "network"), counted(spec.spatial.layers, "layer"), spec.features,
         spec.bottleneck, length_text(length), plan_.domain.unit,
         spec.temporal.layers == 0
             ? ""
             : fmt::format(", {:.3g} days", time_lengthscale_from_engine(plan_.domain, spec.temporal.lengthscales[0])));
  }

  // In the engine's unit. Without it the weight decay would assume next to none, and networks would learn the noise: of 27,000
  // observations with noise of half the field's sd, 60 epochs left an error of 0.46 where 0.26 can be had
  // (docs/notes/defaults.md).
  double noise_of_observations() {
    const std::vector<std::size_t> rows = some_runs(plan_.split.training);
    std::vector<double> value;
    for (const std::size_t row : rows) value.push_back(observations_.value[row]);
    const std::vector<Neighbours> pairs =
        nearest_pairs(plan_.domain, plan_.spec, observations_, rows, plan_.settings.threads, control_);
    const std::vector<Between> triples =
        nearest_triples(plan_.domain, plan_.spec, observations_, rows, pairs, plan_.settings.threads);
    plan_.nugget_sd = nugget_sd(value, pairs, triples);
    if (!by_paper(plan_)) {
      if (plan_.nugget_sd > 0.0) {
        note(plan_,
             "Noise: about {:.2g}, from differences between neighbouring observations; training is regularised accordingly.",
             plan_.nugget_sd);
      } else {
        note(plan_, "Noise: too small to estimate from differences between neighbouring observations.");
      }
    }
    advise_on_outliers(outlier_share(value, triples, plan_.nugget_sd));
    if (by_paper(plan_)) return paper_recipe().noise_sd;
    return std::clamp(plan_.nugget_sd / plan_.domain.value.sd, default_recipe().noise_sd, kMostNoise);
  }

  // Of 27,000 observations with 5 % of outliers the squared loss left an error of 0.40 of the field's sd, Huber's 0.30.
  void advise_on_outliers(double share) {
    constexpr double kMany = 0.002;
    if (share < kMany || plan_.settings.train.loss == LossKind::huber || plan_.method != FitMethod::network) return;
    note(plan_,
         "Outliers: {:.1f} % of the observations differ from their neighbours by more than five times the noise; --loss huber "
         "limits their influence.",
         100.0 * share);
  }

  void choose_training(std::size_t training, double noise_sd) {
    const TrainSettings& wanted = plan_.settings.train;
    const auto n = static_cast<double>(training);
    Recipe recipe = by_paper(plan_) ? paper_recipe() : default_recipe();
    if (!by_paper(plan_)) {
      const bool blend = plan_.method == FitMethod::blend || plan_.settings.fit.quick;
      recipe.epochs =
          std::clamp(std::round((blend ? kBlendWork : kWork) / (kUsualMembers * n)), 1.0, blend ? kBlendMostEpochs : kMostEpochs);
      // A power of two that leaves enough steps of the usual number of epochs: fewer epochs are then less work in proportion.
      const double batch = std::exp2(std::floor(std::log2(std::max(1.0, recipe.epochs * n / (blend ? kBlendSteps : kSteps)))));
      recipe.batch = static_cast<std::size_t>(std::clamp(batch, blend ? 128.0 : 64.0, 1024.0));
    }
    if (wanted.epochs) recipe.epochs = *wanted.epochs;
    if (wanted.batch) recipe.batch = *wanted.batch;
    if (wanted.optimiser) recipe.optimiser = *wanted.optimiser;
    recipe.loss = wanted.loss;
    recipe.huber_delta = wanted.huber_delta;
    if (wanted.rate) recipe.rate = *wanted.rate;
    if (wanted.bottleneck_rate) recipe.muon_rate = *wanted.bottleneck_rate;
    if (plan_.settings.uncertainty.method == UncertaintyMethod::dropout) recipe.dropout = plan_.settings.uncertainty.dropout;
    recipe.noise_sd = noise_sd;
    if (const auto noise = plan_.settings.uncertainty.noise_sd) recipe.noise_sd = *noise / plan_.domain.value.sd;
    if (wanted.decay_noise_sd) recipe.noise_sd = *wanted.decay_noise_sd / plan_.domain.value.sd;
    recipe.value_noise = value_noise();
    if (plan_.settings.tune.method == TuneMethod::gradient) recipe.train_lengthscales = recipe.train_amplitudes = true;
    check(recipe);
    plan_.recipe = recipe;
    if (!has_networks(plan_)) return;
    if (recipe.value_noise > 0.0) {
      note(plan_,
           "Ensemble: independent noise of sd {:.2g} is added to each network's training values, so that their spread reflects "
           "the noise.",
           recipe.value_noise * plan_.domain.value.sd);
    }
    note(plan_, "Training: {} in batches of {}: {} steps per network.", counted(recipe.epochs, "epoch"), recipe.batch,
         grouped(static_cast<double>(total_steps(recipe, training))));
  }

  // Each network's own, in the engine's unit: members that all see the same noise agree on what they have learnt of it
  // (train/value_noise.h). Not where the spread comes from elsewhere: a single network would only lose by it, and the last
  // layer's posterior counts the noise already.
  double value_noise() const {
    const UncertaintySettings& uncertainty = plan_.settings.uncertainty;
    const double unit = plan_.domain.value.sd;
    if (const auto wanted = plan_.settings.train.value_noise_sd) return *wanted / unit;
    if (by_paper(plan_) || uncertainty.method != UncertaintyMethod::ensemble || plan_.members < 2) return 0.0;
    return std::min(uncertainty.noise_sd.value_or(plan_.nugget_sd) / unit, kMostNoise);
  }

  std::string fingerprint() const {
    Fingerprint print;
    add_networks(print, plan_);
    add_settings(print, plan_.settings, on_fit);
    add_plan(print, plan_, observations_);
    return print.text();
  }

  const Observations& observations_;
  const Dataset& data_;
  const Control control_;
  FitPlan plan_;
};

}  // namespace

FitPlan plan_fit(const RunSettings& settings, const Dataset& data, Judging judging, const Control& control) {
  try {
    return Planner(settings_under(control, settings), data, control).plan(judging);
  } catch (const Stopped&) {
    throw Stopped(kNothingToSave);
  }
}

FitPlan replan(const FitPlan& plan, const RunSettings& settings, std::size_t training) {
  return Planner(settings, Dataset{}).again(plan, training);
}

}  // namespace drift
