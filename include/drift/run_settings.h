#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drift/backend.h"
#include "drift/domain.h"
#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/network_spec.h"
#include "drift/read_observations.h"
#include "drift/recipe.h"
#include "drift/roles.h"
#include "drift/split.h"

namespace DRIFT_PUBLIC drift {

// The settings of a run, table by table: those of a run file (TOML), which flags of the command override. Every setting has a
// default that works; if it is empty ("auto" in a run file, for words), drift chooses from the data and prints its choice.
// src/settings/setting_list.h lists them all with their ranges; check() applies those.

enum class RecipeName {
  standard,  // drift's own networks and training
  paper,     // those of the paper's first experiment
};
constexpr auto enum_words(RecipeName) {
  return std::to_array<EnumWord<RecipeName>>({{"default", RecipeName::standard}, {"paper", RecipeName::paper}});
}

// Source of the field's spread.
enum class UncertaintyMethod { ensemble, variational, dropout, last_layer };
constexpr auto enum_words(UncertaintyMethod) {
  return std::to_array<EnumWord<UncertaintyMethod>>({{"ensemble", UncertaintyMethod::ensemble},
                                                     {"variational", UncertaintyMethod::variational},
                                                     {"dropout", UncertaintyMethod::dropout},
                                                     {"last_layer", UncertaintyMethod::last_layer}});
}

// Noise of an observation.
enum class NoiseSource {
  estimate,  // one for all, by held-out observations
  sigma,     // that of each observation
};
constexpr auto enum_words(NoiseSource) {
  return std::to_array<EnumWord<NoiseSource>>({{"estimate", NoiseSource::estimate}, {"sigma", NoiseSource::sigma}});
}

// Use of held-out observations, besides scores.
enum class CalibrationMethod {
  none,
  scale,      // a factor on the spread
  conformal,  // that, and conformal intervals
};
constexpr auto enum_words(CalibrationMethod) {
  return std::to_array<EnumWord<CalibrationMethod>>(
      {{"none", CalibrationMethod::none}, {"scale", CalibrationMethod::scale}, {"conformal", CalibrationMethod::conformal}});
}

enum class TuneMethod {
  none,
  bayes,     // a search before the fit (drift/tune.h)
  gradient,  // lengthscales and amplitudes are trained with the weights
};
constexpr auto enum_words(TuneMethod) {
  return std::to_array<EnumWord<TuneMethod>>(
      {{"none", TuneMethod::none}, {"bayes", TuneMethod::bayes}, {"gradient", TuneMethod::gradient}});
}

// Score of a trial, by validation observations.
enum class TuneObjective {
  loss,  // mean over members
  crps,
  nlpd,
  elbo,  // of variational networks, by training observations
};
constexpr auto enum_words(TuneObjective) {
  return std::to_array<EnumWord<TuneObjective>>({{"loss", TuneObjective::loss},
                                                 {"crps", TuneObjective::crps},
                                                 {"nlpd", TuneObjective::nlpd},
                                                 {"elbo", TuneObjective::elbo}});
}

// Settings that a search may vary.
enum class SearchedSetting {
  lengthscale,
  hidden_lengthscale,
  time_lengthscale_days,
  amplitude,
  hidden_amplitude,
  noise_sd,
  layers,
  features,
  bottleneck_rate
};
constexpr auto enum_words(SearchedSetting) {
  return std::to_array<EnumWord<SearchedSetting>>({{"lengthscale", SearchedSetting::lengthscale},
                                                   {"hidden_lengthscale", SearchedSetting::hidden_lengthscale},
                                                   {"time_lengthscale_days", SearchedSetting::time_lengthscale_days},
                                                   {"amplitude", SearchedSetting::amplitude},
                                                   {"hidden_amplitude", SearchedSetting::hidden_amplitude},
                                                   {"noise_sd", SearchedSetting::noise_sd},
                                                   {"layers", SearchedSetting::layers},
                                                   {"features", SearchedSetting::features},
                                                   {"bottleneck_rate", SearchedSetting::bottleneck_rate}});
}

struct DataSettings {
  std::vector<std::string> files;  // paths or globs, NetCDF or CSV
  Roles roles;                     // keys lon, lat, x, y, time, value, sigma, track, platform
  std::string preset;
  std::vector<std::string> where;
  std::optional<Range> valid;
  std::optional<std::array<double, 4>> box;
  std::string from, to;  // ISO times, or numbers where the files' times are such
  double track_gap_s = 60.0;
  bool any_order = false;
  bool no_quality_control = false;              // keep what the preset's quality control leaves out
  std::string time_units;                       // of times that are numbers: CF's words, datenum or yyyymmdd
  std::string units, standard_name, long_name;  // of the values, where the files do not say or say it wrong
  BadFiles bad_files = BadFiles::stop;
  double open_limit_s = 30.0;
};

struct DomainSettings {
  std::optional<DomainKind> kind;
  std::string crs;   // of the plane
  std::string unit;  // of x and y
};

struct SplitSettings {
  std::optional<SplitMethod> method;
  std::optional<double> held_out;      // share of the observations
  std::vector<std::string> platforms;  // held out, where the method is platform
  std::optional<double> block;         // side of a block: km, or the unit of x and y; none: about as large as the gaps
  std::optional<double> block_days;    // length of a block, 0 for all times; none: about as long as the gaps, or 0 with a side
  // A given test set: it scores, and is never trained on nor calibrated with. At most one of the two.
  std::vector<std::string> test;  // files, read like those of [data]
  std::string test_where;         // condition on rows of the files of [data]: "pass in 8,16", "platform == Sentinel-3B"
};

// Parts of a model.
enum class FitMethod {
  blend,    // networks and a process, weighted by their errors out of fold
  network,  // the ensemble alone
  process,  // kriging in a moving frame alone
  other,    // another method of method_infos() (drift/interpolator.h): it has a name, and no word of its own
};
constexpr auto enum_words(FitMethod) {
  return std::to_array<EnumWord<FitMethod>>(
      {{"blend", FitMethod::blend}, {"network", FitMethod::network}, {"process", FitMethod::process}});
}

// A model of drift's own parts, or of another method with its options.
struct FitChoice {
  FitMethod parts = FitMethod::blend;
  std::string name = {};                                          // where parts is other: "nngp"
  std::vector<std::pair<std::string, std::string>> options = {};  // its own, in the order given: {"neighbours", "64"}

  FitChoice() = default;
  FitChoice(FitMethod own) : parts(own) {}  // NOLINT(google-explicit-constructor): a word is a choice
  bool operator==(const FitChoice&) const = default;
};
// From "blend", "network", "process", or a method with its options, as "nngp:neighbours=64". Throws UsageError naming the nearest
// method or option, or the range of a value.
FitChoice fit_choice(const std::string& text);
std::string text_of(const FitChoice& choice);  // that fit_choice reads back

struct FitSettings {
  std::optional<FitChoice> method;  // none: blend, but network for the paper's recipe, one network, or another spread than theirs
  std::size_t folds = 5;            // of whole tracks or blocks; each network leaves one out
  bool quick = false;               // a first look: a model that takes about a minute
};

struct ModelSettings {
  std::optional<std::size_t> members, layers, features, bottleneck;
  bool no_skip = false;                         // coordinates enter the first layer alone
  std::optional<std::size_t> time_layers;       // of the temporal chain of additive coupling; none: 1
  std::optional<std::size_t> joint_layers;      // in place of the linear head of additive coupling; none: 0
  std::optional<double> lengthscale;            // km, or the unit of x and y
  std::optional<double> hidden_lengthscale;     // of hidden layers, in units of sqrt(bottleneck); none: the recipe's
  std::optional<double> time_lengthscale_days;  // days
  std::optional<double> amplitude;
  std::optional<double> hidden_amplitude;  // of the layers after the first and of time's; none: the amplitude
  Family covariance = Family::matern;
  double nu = 1.5;
  std::optional<Coupling> coupling;  // of space and time; none: the recipe's
};

struct TrainSettings {
  std::optional<double> epochs;
  std::optional<std::size_t> batch;
  std::optional<double> rate, bottleneck_rate;
  std::optional<Optimiser> optimiser;  // none: the recipe's
  LossKind loss = LossKind::squared;
  double huber_delta = 0.1;
  std::optional<double> decay_noise_sd;  // noise that weight decay assumes, in the values' unit; none: a hundredth of their sd
  std::optional<double> value_noise_sd;  // added to each network's values, in their unit; none: that of the observations
  double checkpoint_every_s = 300.0;
};

struct UncertaintySettings {
  UncertaintyMethod method = UncertaintyMethod::ensemble;
  std::size_t draws = 10;  // members made of a variational or dropout network
  double dropout = 0.05;   // share of features dropped
  NoiseSource noise = NoiseSource::estimate;
  std::optional<double> noise_sd;  // of an observation's error, in the values' unit: given, not estimated
  CalibrationMethod calibrate = CalibrationMethod::conformal;
};

struct TuneSettings {
  TuneMethod method = TuneMethod::none;
  std::size_t trials = 20;             // in all
  std::optional<std::size_t> initial;  // of these, a Latin hypercube before the surrogate proposes; none: by the settings' number
  std::vector<SearchedSetting> settings;  // empty: lengthscales and amplitude
  TuneObjective objective = TuneObjective::loss;
  std::optional<double> alpha;          // weight of the field's roughness; none: chosen by other validation observations
  std::optional<std::size_t> members;   // a trial
  std::optional<std::size_t> parallel;  // trials side by side; none: one on the CPU, a round of several on a GPU
  std::string study;                    // the search's file; empty: beside the model
};

struct CompareSettings {
  std::vector<std::string> methods;  // texts, as "nngp:neighbours=64", or "all"; none: one of each family
  std::size_t seeds = 3;             // fits of each method, with the run's seed and those after it
  std::string truth;                 // as open_truth takes it: synthetic[:SEED[,...]], geoid, FILE.nc[:VARIABLE]
  std::string grid;                  // of the maps; empty: chosen
  std::string map_time;              // of the maps; empty: the middle of the observations'
  std::string folder = "comparison";
};

struct OutputSettings {
  std::string model;  // path
};

struct RunSettings {
  DataSettings data;
  DomainSettings domain;
  SplitSettings split;
  FitSettings fit;
  ModelSettings model;
  TrainSettings train;
  UncertaintySettings uncertainty;
  TuneSettings tune;
  CompareSettings compare;
  OutputSettings output;
  std::uint64_t seed = 1;
  int threads = 0;                       // 0: one per core available to this process
  Backend backend = Backend::automatic;  // that trains networks; automatic: a GPU if there is one
  Precision precision = Precision::tf32;
  RecipeName recipe = RecipeName::standard;
};

// Throws UsageError, naming table, key, value and range, unless every number is finite and in its range and every enum one of its
// enumerators. Every entry point that takes settings, in the library and in the command, calls it: programs get the same messages
// as run files.
void check(const RunSettings& settings);

// Type of a setting's value, so that programs in other languages can check and document it.
enum class SettingType {
  text,
  word,  // one of a fixed list
  number,
  whole_number,
  truth,  // true or false
  range,  // two numbers, LOW:HIGH
  box,    // four numbers, LON0,LAT0,LON1,LAT1
};

// One setting, as a run file and a command line name it.
struct SettingInfo {
  std::string table;                     // "train"; empty: before the first table
  std::string key;                       // "epochs"
  std::string flag;                      // "--epochs"; empty: none
  std::string help;                      // one line, with unit and range
  std::string fallback;                  // "0.1"; empty: chosen from the data, or none
  bool is_switch = false;                // true or false: the flag takes no value
  bool repeats = false;                  // a list: the flag may be given several times
  SettingType type = SettingType::text;  // of an entry, if it is a list
  std::vector<std::string> words = {};   // those that it may be; none: any text
  bool lists_files = false;              // the flag takes all paths that follow, as a shell expands a pattern
};
const std::vector<SettingInfo>& setting_infos();

// Sets one from the text of its flag. Throws UsageError naming the flag when the text does not fit.
// `table`, where two have the flag (--method is of fit and of compare); else the first that has it. `called`: what messages call
// it, where a program does not show its users flags.
void set_from_flag(RunSettings& settings, const std::string& flag, const std::vector<std::string>& texts,
                   const std::string& table = {}, const std::string& called = {});

// Throws Error when the file cannot be read, UsageError with file and line on a text that is not TOML, an unknown key or table
// (with the nearest known one), a wrong type, a value out of range. Paths in it are relative to the run file's folder.
RunSettings read_run_file(const std::filesystem::path& path);

// All settings that differ from their defaults, as a run file that read_run_file reads back to the same settings.
std::string to_toml(const RunSettings& settings);
RunSettings run_settings_from_toml(const std::string& text, const std::string& name);

// The reader's options for these settings. Throws UsageError on a time that is neither ISO nor a number.
ReadOptions read_options(const RunSettings& settings);

// The observations of these settings, with their test set if one is given. Throws as read_observations does, and UsageError for
// two test sets.
Reading read_run(const RunSettings& settings, const Control& control = {});

}  // namespace drift
