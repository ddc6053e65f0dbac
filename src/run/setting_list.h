#pragma once

// The list of all settings of a run: table, key, field, flag, help and range, once. Reading and writing run files, flags and the
// documentation all follow it.

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "drift/run_settings.h"

namespace drift {

struct SettingRule {
  const char* flag = "";
  const char* help = "";
  double least = -std::numeric_limits<double>::infinity();  // of numbers
  double most = std::numeric_limits<double>::infinity();
  bool more_than_least = false;         // the least itself is not allowed
  std::vector<const char*> words = {};  // of text: nothing else is allowed
};

template <class Self, class Visitor>
requires std::is_same_v<std::remove_const_t<Self>, RunSettings>
void visit_settings(Self& s, Visitor&& visit) {  // NOLINT(readability-function-size): a list
  constexpr double kMany = 1e9;
  const auto more_than_zero = [](const char* flag, const char* help) {
    return SettingRule{.flag = flag, .help = help, .least = 0.0, .more_than_least = true};
  };
  const auto whole = [](const char* flag, const char* help, double least, double most) {
    return SettingRule{.flag = flag, .help = help, .least = least, .most = most};
  };
  const auto text = [](const char* flag, const char* help) { return SettingRule{.flag = flag, .help = help}; };

  visit("", "seed", s.seed, whole("--seed", "Seed of every random number", 0, 9e15));
  visit("", "threads", s.threads, whole("--threads", "Threads; 0: one a core", 0, 4096));

  SettingRule backend = text("--backend", "Where networks are trained: cpu, cuda, or auto: a GPU where there is one");
  backend.words = {"auto", "cpu", "cuda"};
  visit("", "backend", s.backend, backend);
  SettingRule precision = text("--precision", "Of matrix products on a GPU: float32, tf32 or bf16");
  precision.words = {"float32", "tf32", "bf16"};
  visit("", "precision", s.precision, precision);

  SettingRule recipe = text("--recipe", "Networks and training: drift's own (default), or the paper's (paper)");
  recipe.words = {"default", "paper"};
  visit("", "recipe", s.recipe, recipe);

  visit("data", "files", s.data.files, text("", "Observations: paths or globs, NetCDF or CSV"));
  visit("data", "value", s.data.roles.value, text("--value", "Variable (column) with the values"));
  visit("data", "lon", s.data.roles.lon, text("--lon", "Variable with the longitudes"));
  visit("data", "lat", s.data.roles.lat, text("--lat", "Variable with the latitudes"));
  visit("data", "x", s.data.roles.x, text("--x", "Variable with x, in place of longitudes"));
  visit("data", "y", s.data.roles.y, text("--y", "Variable with y, in place of latitudes"));
  visit("data", "time", s.data.roles.time, text("--time", "Variable with the times; - for none: a model of space alone"));
  visit("data", "sigma", s.data.roles.sigma, text("--sigma", "Variable with the values' standard errors; - for none"));
  visit("data", "track", s.data.roles.track, text("--track", "Variable with the tracks; - for none"));
  visit("data", "platform", s.data.roles.platform, text("--platform", "Variable with the platforms; - for none"));
  visit("data", "preset", s.data.preset, text("--preset", "Product whose roles apply; none: by CF metadata alone"));
  visit("data", "where", s.data.where, text("--where", "Keep only what meets this, as 'flag in 64,256' or 'swh < 20'"));
  visit("data", "valid", s.data.valid, text("--valid", "Keep values from LOW:HIGH only"));
  visit("data", "bbox", s.data.box, text("--bbox", "Keep positions in LON0,LAT0,LON1,LAT1 only (x, y on a plane)"));
  visit("data", "from", s.data.from, text("--from", "Keep times from this one on (ISO 8601, or a number)"));
  visit("data", "to", s.data.to, text("--to", "Keep times up to this one"));
  visit("data", "track_gap_s", s.data.track_gap_s,
        more_than_zero("--track-gap-s", "A new track begins after so many seconds without observations"));
  visit("data", "any_order", s.data.any_order, text("--any-order", "Accept along-track files whose times run backwards"));

  SettingRule kind = text("--domain", "auto, sphere, plane (with --crs) or xy");
  kind.words = {"auto", "sphere", "plane", "xy"};
  visit("domain", "kind", s.domain.kind, kind);
  visit("domain", "crs", s.domain.crs, text("--crs", "Coordinate reference system of the plane, as EPSG:6931"));
  visit("domain", "unit", s.domain.unit, text("--unit", "Unit of x and y"));

  SettingRule method = text("--split", "What is held out: auto, none, random, track, platform, time (the last), block");
  method.words = {"auto", "none", "random", "track", "platform", "time", "block"};
  visit("split", "method", s.split.method, method);
  visit("split", "held_out", s.split.held_out, whole("--held-out", "Share of the observations held out, 0 to 0.9", 0.0, 0.9));
  visit("split", "platforms", s.split.platforms, text("--held-out-platform", "A platform to hold out (with --split platform)"));
  visit("split", "block", s.split.block, more_than_zero("--block", "Side of a block to hold out, km (or the unit of x and y)"));
  visit("split", "block_days", s.split.block_days,
        whole("--block-days", "Length of a block to hold out, days; 0: all times", 0.0, 1e9));

  visit("model", "members", s.model.members, whole("--members", "Networks in the ensemble", 1, 1000));
  visit("model", "layers", s.model.layers, whole("--layers", "Layers of the spatial chain", 1, 64));
  visit("model", "features", s.model.features, whole("--features", "Random features a layer", 1, 1e6));
  visit("model", "bottleneck", s.model.bottleneck, whole("--bottleneck", "Numbers between layers", 1, 1e5));
  visit("model", "lengthscale", s.model.lengthscale,
        more_than_zero("--lengthscale", "Length in space, km (or the unit of x, y)"));
  visit("model", "time_lengthscale_days", s.model.time_lengthscale_days,
        more_than_zero("--time-lengthscale-days", "Length in time, days"));
  visit("model", "amplitude", s.model.amplitude, more_than_zero("--amplitude", "Amplitude of every layer"));
  SettingRule covariance = text("--covariance", "matern or squared_exponential");
  covariance.words = {"matern", "squared_exponential"};
  visit("model", "covariance", s.model.covariance, covariance);
  visit("model", "nu", s.model.nu, more_than_zero("--nu", "Smoothness of the Matérn covariance"));

  visit("train", "epochs", s.train.epochs, more_than_zero("--epochs", "Times each observation is seen"));
  visit("train", "batch", s.train.batch, whole("--batch", "Observations a step", 1, kMany));
  visit("train", "rate", s.train.rate, more_than_zero("--rate", "Learning rate of Adam"));
  visit("train", "bottleneck_rate", s.train.bottleneck_rate,
        more_than_zero("--bottleneck-rate", "Learning rate of the bottlenecks under muon"));
  SettingRule optimiser = text("--optimiser", "muon (orthogonalised momentum for the bottlenecks) or adam");
  optimiser.words = {"", "muon", "adam"};
  visit("train", "optimiser", s.train.optimiser, optimiser);
  SettingRule loss = text("--loss", "squared, or huber where there are outliers");
  loss.words = {"squared", "huber"};
  visit("train", "loss", s.train.loss, loss);
  visit("train", "huber_delta", s.train.huber_delta,
        more_than_zero("--huber-delta", "Where huber turns linear, in standard deviations of the values"));
  visit("train", "decay_noise_sd", s.train.decay_noise_sd,
        more_than_zero("--decay-noise-sd", "Noise that the weight decay assumes, in the values' unit"));
  visit("train", "value_noise_sd", s.train.value_noise_sd,
        whole("--value-noise-sd", "Noise that each network's values get, its own, in the values' unit; 0: none", 0.0, 1e300));
  visit("train", "checkpoint_every_s", s.train.checkpoint_every_s,
        more_than_zero("--checkpoint-every-s", "Seconds between checkpoints"));

  SettingRule uncertainty = text("--uncertainty", "Where the spread comes from: ensemble, variational, dropout or last_layer");
  uncertainty.words = {"ensemble", "variational", "dropout", "last_layer"};
  visit("uncertainty", "method", s.uncertainty.method, uncertainty);
  visit("uncertainty", "draws", s.uncertainty.draws,
        whole("--draws", "Members drawn of each variational or dropout network", 2, 1000));
  visit("uncertainty", "dropout", s.uncertainty.dropout,
        whole("--dropout", "Share of features dropped by the method dropout, 0 to 0.9", 0.0, 0.9));
  SettingRule noise = text("--noise", "Noise of an observation: estimate it on held-out ones, or each one's own sigma");
  noise.words = {"estimate", "sigma"};
  visit("uncertainty", "noise", s.uncertainty.noise, noise);
  visit("uncertainty", "noise_sd", s.uncertainty.noise_sd,
        whole("--noise-sd", "Noise of an observation where it is known, in the values' unit", 0.0, 1e300));
  SettingRule calibrate = text("--calibrate", "Make the spread hold on held-out observations: none, scale or conformal");
  calibrate.words = {"none", "scale", "conformal"};
  visit("uncertainty", "calibrate", s.uncertainty.calibrate, calibrate);

  SettingRule tune = text("--tune", "Search for settings first: none, bayes, or gradient (trained with the weights)");
  tune.words = {"none", "bayes", "gradient"};
  visit("tune", "method", s.tune.method, tune);
  visit("tune", "trials", s.tune.trials, whole("--trials", "Work of the search, in full trials", 1, 1e5));
  visit("tune", "settings", s.tune.settings,
        text("--search",
             "A setting to search: lengthscale, time_lengthscale_days, amplitude, noise_sd, layers, features, bottleneck_rate"));
  SettingRule objective = text("--objective", "What a trial is judged by: loss, crps, nlpd, or elbo (variational)");
  objective.words = {"loss", "crps", "nlpd", "elbo"};
  visit("tune", "objective", s.tune.objective, objective);
  visit("tune", "alpha", s.tune.alpha,
        whole("--alpha", "Weight of the field's roughness in the objective, 0 to 0.99", 0.0, 0.99));
  visit("tune", "halving", s.tune.halving, text("--halving", "Small trials first; the best third goes on"));
  visit("tune", "members", s.tune.members, whole("--trial-members", "Networks a trial", 1, 1000));
  visit("tune", "parallel", s.tune.parallel,
        whole("--parallel", "Trials side by side; none: five on a GPU, one on the CPU", 1, 1024));
  visit("tune", "study", s.tune.study, text("--study", "The search's file; it resumes where it is there already"));

  visit("compare", "methods", s.compare.methods,
        text("--method", "A method with its settings, as nngp or nngp:neighbours=64; all: every one; none: one of each family"));
  visit("compare", "seeds", s.compare.seeds, whole("--seeds", "Fits of each method, with this many seeds", 1, 1000));
  visit("compare", "truth", s.compare.truth,
        text("--truth", "Noise-free truth to score against: synthetic[:SEED], geoid, or a gridded file, FILE.nc[:VARIABLE]"));
  visit("compare", "grid", s.compare.grid, text("--grid", "Grid of the maps, as drift predict has them"));
  visit("compare", "map_time", s.compare.map_time,
        text("--map-time", "Time of the maps (ISO 8601, or a number); none: the middle of the observations' times"));
  visit("compare", "folder", s.compare.folder, text("--folder", "Where the results go; fits that are there are not repeated"));

  visit("output", "model", s.output.model, text("--out", "The model's file (safetensors)"));
}

// The time in days, or the number it is, of the setting [table] key. Throws UsageError.
double time_setting(const char* table, const char* key, const std::string& text);

// The rule's sentence about a number or word that does not fit; empty when it does.
std::string misfit(const SettingRule& rule, double number, bool whole);
std::string misfit(const SettingRule& rule, const std::string& word);

}  // namespace drift
