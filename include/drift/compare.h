#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drift/export.h"
#include "drift/fit.h"
#include "drift/grid.h"
#include "drift/interpolator.h"
#include "drift/truth.h"

namespace DRIFT_PUBLIC drift {

// Comparison of methods: one split of one data set, every method fitted and scored on it by the same code, with several
// seeds.

// The methods that can be compared: drift's own, and those of method_infos().
const std::vector<MethodInfo>& compare_methods();

// A method by its text, for one fit; plan.settings.seed is the fit's seed, while the plan's split and domain are all fits' own.
using MethodMaker =
    std::function<std::unique_ptr<Interpolator>(const std::string& text, const FitPlan& plan, const Dataset& data)>;

// Makes any of compare_methods(). Throws UsageError with the nearest name.
std::unique_ptr<Interpolator> make_compared_method(const std::string& text, const FitPlan& plan, const Dataset& data);

// A number that a fit is measured by. All fits that worked have the costs; scores may be missing.
struct CompareMeasure {
  enum class Kind {
    score,     // the lower the better
    coverage,  // the nearer to 0.9 the better
    cost,      // seconds, bytes: shown, not ranked
  };
  std::string name;   // "crps"
  std::string title;  // "CRPS"
  std::string help;
  Kind kind = Kind::score;
  bool in_table = true;   // of the text and Markdown tables; CSV and JSON have all
  bool of_truth = false;  // against the noise-free truth
  bool has_unit = false;  // in the values' unit
};
const std::vector<CompareMeasure>& compare_measures();

// A comparison with all choices made.
struct ComparePlan {
  FitPlan fit;                       // data's split, domain, and drift's own networks
  std::vector<std::string> methods;  // texts, as "nngp:neighbours=64"
  std::vector<std::uint64_t> seeds;  // the first is the run's
  std::filesystem::path folder;      // of the results; empty: none are kept
  FieldInfo info;                    // of the field
  Grid grid;                         // of the maps
  std::optional<double> map_time;    // days; none: the field has no time
  std::optional<NamedTruth> truth;   // scored on the grid's points within the observations' extent
  std::string fingerprint;           // of data, split and calibration
  std::vector<std::string> choices;  // a sentence each
  MethodMaker make;
};

// Chooses what the settings leave open. Throws UsageError for unknown methods and options (all texts are tried), for a split
// that holds nothing out, for a truth that does not fit.
ComparePlan plan_compare(const RunSettings& settings, const Dataset& data, const MethodMaker& make = make_compared_method,
                         const Control& control = {});

// One fit of one method.
struct ComparedFit {
  std::string method;  // its text
  std::uint64_t seed = 1;
  std::string failure = {};                                        // its sentence; empty: it worked
  std::map<std::string, double> measures = {};                     // by the measures' names
  std::vector<std::pair<std::string, std::string>> findings = {};  // of the fit
};
std::string to_json(const ComparedFit& fit);
ComparedFit compared_fit_from_json(const std::string& text);  // throws Error

// Fits and scores one method in this process; for the first seed its map is written to the folder. Errors become its failure.
// Throws Stopped when stopped. Peak memory is the whole process's from the start of the fit.
ComparedFit compare_fit(const ComparePlan& plan, const Dataset& data, const std::string& method, std::uint64_t seed,
                        const Control& control = {});

struct MeanSd {
  double mean = 0.0;
  double sd = 0.0;  // between seeds; 0 for one
  int rank = 0;     // 1, 2, 3 among the methods; 0: none of these, or not ranked
};
struct ComparedMethod {
  std::string method;  // its text
  std::string title;
  std::size_t fits = 0;   // that worked
  std::size_t seeds = 0;  // asked for
  std::map<std::string, MeanSd> measures = {};
  std::string failure = {};                                        // the first sentence of those that failed
  std::vector<std::pair<std::string, std::string>> findings = {};  // of the first seed
};

struct Comparison {
  bool finished = false;  // false: rows hold what has been done so far
  std::string variable = {}, unit = {};
  std::size_t training = 0, held_out = 0;  // observations
  std::string split = {};                  // in words
  CalibrationMethod calibrate = CalibrationMethod::conformal;
  bool has_truth = false;
  int threads = 0;
  std::vector<ComparedMethod> rows = {};  // in the order of the methods
};

// Every method with every seed, the first seed of all methods first. A fit that failed is reported in its row and tried again by
// the next run; one that worked is kept as a file in the plan's folder and not repeated, unless the control says `fresh`. The
// folder's table is written anew after each fit, and a last time before Stopped is thrown. Progress is the share of all fits.
struct CompareHooks {
  // After each fit, failed ones too, with the table so far.
  std::function<void(const ComparedFit& fit, bool from_file, const Comparison& so_far)> done = {};
  // Runs one fit; none: compare_fit, in this process. The command runs each in a separate process, so that a crash, memory and
  // processor time are that fit's alone. Throws Stopped when stopped.
  std::function<ComparedFit(const std::string& method, std::uint64_t seed)> fit = {};
};
Comparison compare(const ComparePlan& plan, const Dataset& data, const Control& control = {}, const CompareHooks& hooks = {});

// Rows from fits. Best, second and third of each score are marked where two or more methods have it; equal means share a rank.
std::vector<ComparedMethod> summarise(const std::vector<std::string>& methods, std::size_t seeds,
                                      const std::vector<ComparedFit>& fits);

// The table. Text: coloured for a terminal, or with 1st, 2nd, 3rd alone.
std::string comparison_text(const Comparison& comparison, bool coloured);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_csv(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

// Throws UsageError where results of the comparison would overwrite what it reads, or a run.toml of the user's own.
void check_compare_paths(const RunSettings& settings);

// Writes run.toml into the plan's folder and returns its absolute path: a run file that repeats the comparison.
std::filesystem::path save_compare_run(const ComparePlan& plan);

// table.md, table.csv and table.json in the plan's folder.
void write_comparison(const ComparePlan& plan, const Comparison& comparison);

// means.png and sds.png in the folder: the maps of the first seed side by side with one colour scale, the truth first where there
// is one. Returns the pictures drawn; none if no method succeeded. Throws Error without GMT.
std::vector<std::filesystem::path> draw_comparison(const ComparePlan& plan, const Comparison& comparison,
                                                   const Control& control = {});

}  // namespace drift
