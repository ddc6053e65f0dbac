#pragma once

// The list of all settings of a run: table, key, field, flag, help, range and what they bear on, once. Reading, writing and
// checking settings, flags, fingerprints and the documentation all follow it. Words are those of a setting's type
// (drift/enum_words.h).

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drift/run_settings.h"

namespace drift {

// Results that a setting affects: work done with another value of it may not be resumed or reused.
enum Bears : unsigned {
  on_nothing = 0,        // paths, threads, the time between checkpoints
  on_fit = 1,            // checkpoints of drift fit
  on_search = 2,         // studies
  on_comparison = 4,     // fits that compare keeps, of all methods
  on_own_networks = 8,   // those of drift's own networks
  on_observations = 16,  // nothing else: the observations, which have a fingerprint of their own
};

struct SettingRule {
  const char* flag = "";
  const char* help = "";                                    // words are added to it
  double least = -std::numeric_limits<double>::infinity();  // of numbers
  double most = std::numeric_limits<double>::infinity();
  bool more_than_least = false;  // the least itself is not allowed
  unsigned bears = on_fit | on_search | on_comparison | on_own_networks;

  bool lists_files = false;  // the flag takes all paths that follow
  // Of a text that is not empty: throws UsageError where it is none that the setting takes. Null: any text is.
  void (*parse)(const std::string& text) = nullptr;
  bool programs_may_differ = false;  // what a program sets is checked where it is used: it may have methods of its own

  SettingRule read_by(void (*parser)(const std::string& text)) const {
    SettingRule rule = *this;
    rule.parse = parser;
    return rule;
  }
  SettingRule read_by_users(void (*parser)(const std::string& text)) const {
    SettingRule rule = read_by(parser);
    rule.programs_may_differ = true;
    return rule;
  }
  SettingRule of_files() const {
    SettingRule rule = *this;
    rule.lists_files = true;
    return rule;
  }
  SettingRule bearing(unsigned on) const {
    SettingRule rule = *this;
    rule.bears = on;
    return rule;
  }
};

// Parsers of settings that are texts.
void check_preset_text(const std::string& text);
void check_time_text(const std::string& text);
void check_time_units_text(const std::string& text);
void check_condition_text(const std::string& text);
void check_plane_crs(const std::string& text);
void check_grid_text(const std::string& text);    // whether there is such a file shows when it is opened
void check_method_text(const std::string& text);  // of [compare] methods: "drift:members=5", "nngp", "all"
void check_truth_text(const std::string& text);   // of a synthetic one: whether there is such a file shows when it is opened

template <class Self, class Visitor>
requires std::is_same_v<std::remove_const_t<Self>, RunSettings>
void visit_settings(Self& s, Visitor&& visit) {  // NOLINT(readability-function-size): a list
  constexpr double kMany = 1e9;
  constexpr unsigned kNetworks = on_fit | on_search | on_own_networks;
  constexpr unsigned kEnsemble = on_fit | on_own_networks;  // trials have their own number of networks
  constexpr unsigned kJudging = on_fit | on_comparison;     // noise and spread, after training
  const auto more_than_zero = [](const char* flag, const char* help) {
    return SettingRule{.flag = flag, .help = help, .least = 0.0, .more_than_least = true};
  };
  const auto between = [](const char* flag, const char* help, double least, double most) {
    return SettingRule{.flag = flag, .help = help, .least = least, .most = most};
  };
  const auto any = [](const char* flag, const char* help) { return SettingRule{.flag = flag, .help = help}; };

  visit("", "seed", s.seed, between("--seed", "Seed of every random number", 0, 9e15));
  visit("", "threads", s.threads, between("--threads", "Threads; 0 = one per core", 0, 4096).bearing(on_nothing));
  // A checkpoint may be taken up on another machine; times in a comparison are the backend's.
  visit("", "backend", s.backend,
        any("--backend", "Where networks are trained (auto: on a GPU if there is one)").bearing(on_comparison));
  visit("", "precision", s.precision, any("--precision", "Precision of matrix products on a GPU"));
  visit("", "recipe", s.recipe,
        any("--recipe", "Recipe of networks and training, drift's own or the paper's").bearing(kNetworks));

  const auto data = [&](const char* key, auto& field, const SettingRule& rule) {
    visit("data", key, field, rule.bearing(on_observations));
  };
  data("files", s.data.files, any("", "Observations: paths or globs, NetCDF or CSV").of_files());
  data("value", s.data.roles.value, any("--value", "Variable (column) with the values"));
  data("lon", s.data.roles.lon, any("--lon", "Variable with the longitudes"));
  data("lat", s.data.roles.lat, any("--lat", "Variable with the latitudes"));
  data("x", s.data.roles.x, any("--x", "Variable with x, in place of longitudes"));
  data("y", s.data.roles.y, any("--y", "Variable with y, in place of latitudes"));
  data("time", s.data.roles.time, any("--time", "Variable with the times; - for none: the field does not vary in time"));
  data("sigma", s.data.roles.sigma, any("--sigma", "Variable with the values' standard errors; - for none"));
  data("track", s.data.roles.track, any("--track", "Variable with the tracks; - for none"));
  data("platform", s.data.roles.platform, any("--platform", "Variable with the platforms; - for none"));
  data("preset", s.data.preset,
       any("--preset", "Product preset that names the variables; none: CF metadata alone").read_by(&check_preset_text));
  data("where", s.data.where,
       any("--where", "Keep only observations that satisfy this condition, such as 'flag in 64,256' or 'swh < 20'")
           .read_by(&check_condition_text));
  data("valid", s.data.valid, any("--valid", "Keep only values in LOW:HIGH, in their unit"));
  data("bbox", s.data.box, any("--bbox", "Keep only positions in LON0,LAT0,LON1,LAT1, degrees (x and y on a plane)"));
  data("from", s.data.from, any("--from", "Keep only times from this one on (ISO 8601, or a number)").read_by(&check_time_text));
  data("to", s.data.to, any("--to", "Keep only times up to this one").read_by(&check_time_text));
  data("track_gap_s", s.data.track_gap_s, more_than_zero("--track-gap-s", "Gap that starts a new track, seconds"));
  data("any_order", s.data.any_order, any("--any-order", "Accept along-track files whose times run backwards"));
  data("no_quality_control", s.data.no_quality_control,
       any("--no-quality-control", "Keep observations that the product's quality control leaves out"));
  data("time_units", s.data.time_units,
       any("--time-units", "Unit of times that are numbers, such as 'seconds since 2000-01-01', datenum (MATLAB's) or yyyymmdd")
           .read_by(&check_time_units_text));
  data("units", s.data.units, any("--units", "Unit of the values, if the files lack it or have it wrong"));
  data("standard_name", s.data.standard_name, any("--standard-name", "CF standard name of the values"));
  data("long_name", s.data.long_name, any("--long-name", "Long name of the values, for titles of maps"));
  data("bad_files", s.data.bad_files, any("--bad-files", "What to do when one of several NetCDF files cannot be opened or read"));
  visit("data", "open_limit_s", s.data.open_limit_s,
        between("--open-limit-s",
                "Seconds for a child process to open a NetCDF-4 file, which a damaged one may crash; 0: no child", 0.0, 1e6)
            .bearing(on_nothing));

  visit("domain", "kind", s.domain.kind, any("--domain", "Domain of the field (plane needs --crs)"));
  visit("domain", "crs", s.domain.crs,
        any("--crs", "Coordinate reference system of the plane, such as EPSG:6931").read_by(&check_plane_crs));
  visit("domain", "unit", s.domain.unit, any("--unit", "Unit of x and y"));

  visit("split", "method", s.split.method, any("--split", "Groups held out together (time: the latest observations)"));
  visit("split", "held_out", s.split.held_out, between("--held-out", "Share of the observations held out, 0 to 0.9", 0.0, 0.9));
  visit("split", "platforms", s.split.platforms, any("--held-out-platform", "A platform to hold out (with --split platform)"));
  visit("split", "block", s.split.block,
        more_than_zero("--block", "Side of a block of a split or of folds, km (or the unit of x and y)"));
  visit("split", "block_days", s.split.block_days,
        between("--block-days", "Length of such a block, days; 0: all times", 0.0, 1e9));
  visit("split", "test", s.split.test,
        any("--test", "Files of the test set, used for scores only, never for training: paths or globs")
            .of_files()
            .bearing(on_observations));
  visit("split", "test_where", s.split.test_where,
        any("--test-where",
            "Test set: observations that satisfy this condition, such as 'pass in 8,16' or 'platform == Sentinel-3B'")
            .read_by(&check_condition_text)
            .bearing(on_observations));

  visit("fit", "method", s.fit.method,
        any("--method",
            "Parts of the model: auto, blend (networks and a local process), network, process, or a method listed by drift "
            "compare --list, such as nngp:neighbours=64")
            .bearing(kNetworks));
  visit("fit", "folds", s.fit.folds,
        between("--folds", "Folds of whole tracks or blocks; each network leaves one out", 2, 255).bearing(kNetworks));
  visit("fit", "quick", s.fit.quick,
        any("--quick", "A first look in about a minute: the process alone, or few networks trained briefly").bearing(kNetworks));

  const auto model = [&](const char* key, auto& field, const SettingRule& rule) {
    visit("model", key, field, rule.bearing(kNetworks));
  };
  visit("model", "members", s.model.members, between("--members", "Networks in the ensemble", 1, 1000).bearing(kEnsemble));
  model("layers", s.model.layers, between("--layers", "Layers of the spatial chain", 1, 64));
  model("features", s.model.features, between("--features", "Random features per layer", 1, 1e6));
  model("bottleneck", s.model.bottleneck, between("--bottleneck", "Width of the bottleneck between layers", 1, 1e5));
  model("no_skip", s.model.no_skip, any("--no-skip", "Feed the coordinates to the first layer only, without skip connections"));
  model("time_layers", s.model.time_layers, between("--time-layers", "Layers of the temporal chain (additive coupling)", 1, 64));
  model("joint_layers", s.model.joint_layers,
        between("--joint-layers", "Layers that join space and time, in place of the linear head (additive coupling)", 0, 64));
  model("lengthscale", s.model.lengthscale, more_than_zero("--lengthscale", "Lengthscale in space, km (or the unit of x and y)"));
  model("hidden_lengthscale", s.model.hidden_lengthscale,
        more_than_zero("--hidden-lengthscale",
                       "Lengthscale of the layers after the first, in units of the square root of the bottleneck's width"));
  model("time_lengthscale_days", s.model.time_lengthscale_days,
        more_than_zero("--time-lengthscale-days", "Lengthscale in time, days"));
  model("amplitude", s.model.amplitude, more_than_zero("--amplitude", "Amplitude of every layer"));
  model("hidden_amplitude", s.model.hidden_amplitude,
        more_than_zero("--hidden-amplitude", "Amplitude of the layers after the first and of time's, if it differs"));
  model("covariance", s.model.covariance, any("--covariance", "Covariance of the random features"));
  model("nu", s.model.nu, more_than_zero("--nu", "Smoothness of the Matérn covariance"));
  model("coupling", s.model.coupling,
        any("--coupling", "Space and time (product: fields that move; additive: one map plus a time series)"));

  const auto train = [&](const char* key, auto& field, const SettingRule& rule) {
    visit("train", key, field, rule.bearing(kNetworks));
  };
  train("epochs", s.train.epochs, more_than_zero("--epochs", "Times each observation is seen"));
  train("batch", s.train.batch, between("--batch", "Observations per step", 1, kMany));
  train("rate", s.train.rate, more_than_zero("--rate", "Learning rate of Adam"));
  train("bottleneck_rate", s.train.bottleneck_rate,
        more_than_zero("--bottleneck-rate", "Learning rate of the bottlenecks under muon"));
  train("optimiser", s.train.optimiser, any("--optimiser", "Optimiser (muon: orthogonalised momentum for the bottlenecks)"));
  train("loss", s.train.loss, any("--loss", "Loss (huber limits the influence of outliers)"));
  visit("train", "huber_delta", s.train.huber_delta,
        more_than_zero("--huber-delta", "Residual beyond which the Huber loss is linear, in SDs of the values")
            .bearing(kNetworks | on_comparison));  // the Huber NLPD of every method
  train("decay_noise_sd", s.train.decay_noise_sd,
        more_than_zero("--decay-noise-sd", "SD of the noise assumed by the weight decay, in the values' unit"));
  train("value_noise_sd", s.train.value_noise_sd,
        between("--value-noise-sd", "SD of the independent noise added to each network's training values, in their unit; 0: none",
                0.0, 1e300));
  visit("train", "checkpoint_every_s", s.train.checkpoint_every_s,
        more_than_zero("--checkpoint-every-s", "Seconds between checkpoints").bearing(on_nothing));

  visit("uncertainty", "method", s.uncertainty.method, any("--uncertainty", "Source of the field's spread").bearing(kNetworks));
  visit("uncertainty", "draws", s.uncertainty.draws,
        between("--draws", "Members drawn from each variational or dropout network", 2, 1000).bearing(kEnsemble));
  visit("uncertainty", "dropout", s.uncertainty.dropout,
        between("--dropout", "Share of features dropped (--uncertainty dropout), 0 to 0.9", 0.0, 0.9).bearing(kNetworks));
  visit("uncertainty", "noise", s.uncertainty.noise,
        any("--noise", "Source of an observation's noise: estimated from held-out ones, or its own sigma").bearing(kJudging));
  visit("uncertainty", "noise_sd", s.uncertainty.noise_sd,
        between("--noise-sd", "SD of an observation's noise, if known, in the values' unit", 0.0, 1e300));
  visit("uncertainty", "calibrate", s.uncertainty.calibrate,
        any("--calibrate", "Calibration of the spread on held-out observations").bearing(kJudging));

  constexpr unsigned kTrials = on_search | on_own_networks;
  visit("tune", "method", s.tune.method,
        any("--tune", "Search for settings first (gradient: train them with the weights)").bearing(kNetworks));
  visit("tune", "trials", s.tune.trials, between("--trials", "Trials of the search", 1, 1e5).bearing(on_own_networks));
  visit("tune", "initial", s.tune.initial,
        between("--initial-trials", "Trials of a Latin hypercube before the search learns from any; none: 5, or two per setting",
                1, 1e5)
            .bearing(on_own_networks));
  visit("tune", "settings", s.tune.settings, any("--search", "A setting to search").bearing(kTrials));
  visit("tune", "objective", s.tune.objective, any("--objective", "Score of a trial (elbo: variational only)").bearing(kTrials));
  visit("tune", "alpha", s.tune.alpha,
        between("--alpha", "Weight of the field's roughness in the objective, 0 to 0.99", 0.0, 0.99).bearing(kTrials));
  visit("tune", "members", s.tune.members, between("--trial-members", "Networks per trial", 1, 1000).bearing(kTrials));
  visit("tune", "parallel", s.tune.parallel,
        between("--parallel", "Trials side by side; none: five on a GPU, one on the CPU", 1, 1024).bearing(on_own_networks));
  visit("tune", "study", s.tune.study,
        any("--study", "File of the search, which resumes if the file exists").bearing(on_nothing));

  visit("compare", "methods", s.compare.methods,
        any("--method", "Method with its options, such as nngp:neighbours=64; all: every method; none: one of each family")
            .read_by_users(&check_method_text)
            .bearing(on_nothing));
  visit("compare", "seeds", s.compare.seeds,
        between("--seeds", "Seeds, each of which is one fit of every method", 1, 1000).bearing(on_nothing));
  visit("compare", "truth", s.compare.truth,
        any("--truth",
            "Noise-free truth to score against: synthetic[:SEED[,...]] as drift simulate prints it, geoid, or a gridded file, "
            "FILE.nc[:VARIABLE]")
            .read_by(&check_truth_text)
            .bearing(on_comparison));
  visit("compare", "grid", s.compare.grid,
        any("--grid", "Grid of the maps, as in drift predict").read_by(&check_grid_text).bearing(on_comparison));
  visit("compare", "map_time", s.compare.map_time,
        any("--map-time", "Time of the maps (ISO 8601, or a number); none: the middle of the observations' times")
            .read_by(&check_time_text)
            .bearing(on_comparison));
  visit("compare", "folder", s.compare.folder,
        any("--folder", "Folder of the results; fits already in it are not repeated").bearing(on_nothing));

  visit("output", "model", s.output.model, any("--out", "The model's file (safetensors)").bearing(on_nothing));
}

// The words that a field's text may be: those of its enum, and auto for an optional one that is empty. None: any text.
inline constexpr std::string_view kAuto = "auto";
template <class Field>
struct Words {
  static std::vector<std::string_view> all() { return {}; }
};
template <EnumWithWords E>
struct Words<E> {
  static std::vector<std::string_view> all() { return words_of<E>(); }
};
template <EnumWithWords E>
struct Words<std::vector<E>> : Words<E> {};
template <EnumWithWords E>
struct Words<std::optional<E>> {
  static std::vector<std::string_view> all() {
    std::vector<std::string_view> words = words_of<E>();
    words.insert(words.begin(), kAuto);
    return words;
  }
};

// Sets the field from one of its words; false: the word is none of them.
template <EnumWithWords E>
bool set_from_word(E& field, std::string_view word) {
  const std::optional<E> found = from_word<E>(word);
  if (found) field = *found;
  return found.has_value();
}
template <EnumWithWords E>
bool set_from_word(std::optional<E>& field, std::string_view word) {
  field = from_word<E>(word);
  return field.has_value() || word == kAuto;
}
template <class Field>
concept FieldOfWords = requires(Field& field) {
  set_from_word(field, std::string_view());
};

// The time in days, or the number it is. Throws UsageError.
double time_of_text(const std::string& text);

// Why the text is none that the setting takes; empty when it is one.
std::string misread(const SettingRule& rule, const std::string& text);

// The rule's sentence about a number that does not fit, "must be more than 0"; empty when it does.
std::string misfit(const SettingRule& rule, double number, bool whole);

}  // namespace drift
