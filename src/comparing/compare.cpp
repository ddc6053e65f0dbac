#include "drift/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "comparing/compare_parts.h"
#include "core/parse_json.h"
#include "core/threads.h"
#include "core/whole_file.h"
#include "data/groups.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/version.h"
#include "settings/run_identity.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

constexpr const char* kRunFile = "run.toml";
constexpr const char* kRunFileMark = "# Written by drift compare, which overwrites it; repeat with: drift compare run.toml";

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
}

// A fit's name in file names: letters, digits and dashes.
std::string plain_name(const std::string& method) {
  std::string name;
  for (const char c : method) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return name.substr(0, 60);
}

constexpr std::size_t kMostKept = std::size_t{1} << 20;  // bytes of a kept fit: some tens of numbers

// The fit as the folder has it; none: it is still to be done, or to be done again.
std::optional<ComparedFit> kept_fit(const ComparePlan& plan, const std::string& method, std::uint64_t seed) {
  if (plan.folder.empty()) return std::nullopt;
  const std::string stem = fit_stem(plan, method, seed).string();
  if (!std::filesystem::exists(stem + ".json")) return std::nullopt;
  if (seed == plan.seeds.front() && !std::filesystem::exists(stem + ".nc")) return std::nullopt;
  ComparedFit fit = compared_fit_from_json(read_bounded_file(stem + ".json", "the result of a fit", kMostKept));
  if (fit.method != method || fit.seed != seed || !fit.failure.empty()) return std::nullopt;
  return fit;
}

void rank(const CompareMeasure& measure, std::vector<ComparedMethod>& rows) {
  if (measure.kind == CompareMeasure::Kind::cost) return;
  const auto badness = [&](const MeanSd& value) {
    return measure.kind == CompareMeasure::Kind::coverage ? std::abs(value.mean - 0.9) : value.mean;
  };
  std::vector<MeanSd*> values;
  for (ComparedMethod& row : rows) {
    if (const auto found = row.measures.find(measure.name); found != row.measures.end()) values.push_back(&found->second);
  }
  if (values.size() < 2) return;
  for (MeanSd* value : values) {
    const auto better =
        std::count_if(values.begin(), values.end(), [&](const MeanSd* other) { return badness(*other) < badness(*value); });
    value->rank = better < 3 ? static_cast<int>(better) + 1 : 0;
  }
}

std::string title_of(const std::string& method) {
  std::string name = method.substr(0, method.find(':'));
  for (const MethodInfo& info : compare_methods()) {
    if (info.name == name) return info.title;
  }
  return name;
}

}  // namespace

RunSettings with_absolute_paths(RunSettings settings) {
  const auto anchor = [](std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
  };
  for (std::string& pattern : settings.data.files) anchor(pattern);
  for (std::string& pattern : settings.split.test) anchor(pattern);
  anchor(settings.compare.folder);
  std::string &truth = settings.compare.truth, &grid = settings.compare.grid;
  if (names_truth_file(truth)) anchor(truth);
  if (grid.starts_with("file:")) grid.erase(0, 5);
  if (grid.ends_with(".nc")) anchor(grid);
  return settings;
}

std::filesystem::path fit_stem(const ComparePlan& plan, const std::string& method, std::uint64_t seed) {
  Fingerprint print;
  print.add(build_id());
  print.add(plan.fingerprint);
  print.add(method);
  // The settings of its networks are those of the run.
  if (method.starts_with("drift")) add_settings(print, plan.fit.settings, on_own_networks);
  return plan.folder / "fits" / fmt::format("{}.seed{}.{}", plain_name(method), seed, print.text());
}

std::string to_json(const ComparedFit& fit) {
  nlohmann::ordered_json json = {{"method", fit.method}, {"seed", fit.seed}, {"failure", fit.failure}, {"drift", version()}};
  json["measures"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : fit.measures) json["measures"][name] = value;
  json["findings"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : fit.findings) json["findings"].push_back({name, value});
  return json.dump(1) + "\n";
}

ComparedFit compared_fit_from_json(const std::string& text) {
  try {
    const nlohmann::json json = parse_json(text, "the saved result of a fit");
    // A number such as 1e300 would be converted as it may, which is undefined.
    if (!json.at("seed").is_number_unsigned()) throw Error("the saved result of a fit: its \"seed\" is not a whole number");
    ComparedFit fit = {.method = json.at("method"), .seed = json.at("seed"), .failure = json.at("failure")};
    for (const auto& [name, value] : json.at("measures").items()) fit.measures[name] = value.get<double>();
    for (const auto& pair : json.at("findings")) fit.findings.emplace_back(pair.at(0), pair.at(1));
    return fit;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("the saved result of a fit cannot be read: {}; --fresh repeats the fit", error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}; --fresh repeats the fit", error.what()));
  }
}

std::vector<ComparedMethod> summarise(const std::vector<std::string>& methods, std::size_t seeds,
                                      const std::vector<ComparedFit>& fits) {
  std::vector<ComparedMethod> rows;
  for (const std::string& method : methods) {
    ComparedMethod row = {.method = method, .title = title_of(method), .seeds = seeds};
    std::map<std::string, std::vector<double>> values;
    for (const ComparedFit& fit : fits) {
      if (fit.method != method) continue;
      if (!fit.failure.empty()) {
        if (row.failure.empty()) row.failure = fit.failure;
        continue;
      }
      if (row.fits++ == 0) row.findings = fit.findings;
      for (const auto& [name, value] : fit.measures) values[name].push_back(value);
    }
    for (const auto& [name, list] : values) {
      const auto n = static_cast<double>(list.size());
      MeanSd& out = row.measures[name];
      for (const double value : list) out.mean += value / n;
      for (const double value : list) out.sd += (value - out.mean) * (value - out.mean);
      out.sd = list.size() > 1 ? std::sqrt(out.sd / (n - 1.0)) : 0.0;
    }
    rows.push_back(std::move(row));
  }
  for (const CompareMeasure& measure : compare_measures()) rank(measure, rows);
  return rows;
}

// The names of fits depend on the data, so they are checked once these are read.
void check_fit_paths(const ComparePlan& plan) {
  NamedPaths outputs;
  for (const std::uint64_t seed : plan.seeds) {
    for (const std::string& method : plan.methods) {
      const std::string stem = fit_stem(plan, method, seed).string();
      for (const char* ending : {".json", ".nc"}) outputs.push_back({"a fit of the comparison,", stem + ending});
    }
  }
  check_distinct(run_inputs(plan.fit.settings), outputs);
}

Comparison compare(const ComparePlan& plan, const Dataset& data, const Control& control, const CompareHooks& hooks) {
  const RunSettings settings = settings_under(control, plan.fit.settings);
  if (!plan.folder.empty()) {
    check_fit_paths(plan);
    make_folder(plan.folder / "fits");
  }
  Comparison out = {.finished = false,
                    .variable = plan.info.value.name,
                    .unit = plan.info.value.unit,
                    .training = plan.fit.split.training.size(),
                    .held_out = plan.fit.test.empty() ? plan.fit.split.held_out.size() : plan.fit.test.size(),
                    .split = plan.fit.test.empty() ? split_words(plan.fit.split_options) : "the given test set",
                    .calibrate = settings.uncertainty.calibrate,
                    .has_truth = plan.truth.has_value(),
                    .threads = threads_or_all(settings.threads),
                    .rows = {}};
  std::vector<ComparedFit> fits;
  std::set<std::string> failed;
  // After every fit: whatever ends the program later, the table of what was done is there.
  const auto write_so_far = [&] {
    out.rows = summarise(plan.methods, plan.seeds.size(), fits);
    if (!plan.folder.empty()) write_comparison(plan, out);
  };
  const double step = 1.0 / static_cast<double>(plan.seeds.size() * plan.methods.size());
  double begun = -step;  // share of the fits before this one
  bool stopped = false;
  for (const std::uint64_t seed : plan.seeds) {
    for (const std::string& method : plan.methods) {
      begun += step;
      std::optional<ComparedFit> fit = control.fresh ? std::nullopt : kept_fit(plan, method, seed);
      const bool kept = fit.has_value();
      if (!kept) {
        if (failed.contains(method)) continue;  // what failed once would again
        try {
          control.check_stop();
          fit = hooks.fit ? hooks.fit(method, seed) : compare_fit(plan, data, method, seed, control.part(begun, begun + step));
        } catch (const Stopped&) {  // fits that an earlier run kept still go into the table
          stopped = true;
          continue;
        }
      }
      if (!fit->failure.empty())
        failed.insert(method);
      else if (!kept && !plan.folder.empty())
        write_text_file(fit_stem(plan, method, seed).string() + ".json", to_json(*fit));
      fits.push_back(std::move(*fit));
      write_so_far();
      if (hooks.done) hooks.done(fits.back(), kept, out);
    }
  }
  out.finished = !stopped;
  write_so_far();
  if (!stopped) return out;
  if (plan.folder.empty()) throw Stopped("the comparison was stopped");
  throw Stopped(fmt::format("stopped; the fits so far are in {}. The same command resumes from there", plan.folder.string()));
}

void check_compare_paths(const RunSettings& settings) {
  const std::filesystem::path folder = settings.compare.folder;
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    throw UsageError(fmt::format("--folder {}: it is a file; results need a folder", folder.string()));
  NamedPaths outputs;
  for (const char* name : {"table.md", "table.csv", "table.json", "truth.nc", "means.png", "sds.png"})
    outputs.push_back({"a result of the comparison,", folder / name});
  check_distinct(run_inputs(settings), outputs);
  const std::filesystem::path run = folder / kRunFile;
  if (!std::filesystem::exists(run, ignored) || read_whole_file(run).starts_with(std::string(kRunFileMark) + "\n")) return;
  throw UsageError(fmt::format(
      "drift compare would overwrite {}, which it did not write; move that file, or choose another --folder", run.string()));
}

std::filesystem::path save_compare_run(const ComparePlan& plan) {
  check_compare_paths(plan.fit.settings);
  check_fit_paths(plan);
  make_folder(plan.folder / "fits");
  RunSettings settings = plan.fit.settings;
  settings.compare.folder = plan.folder.string();
  settings = with_absolute_paths(std::move(settings));
  std::filesystem::path path = std::filesystem::absolute(plan.folder / kRunFile);
  write_text_file(path, std::string(kRunFileMark) + "\n" + to_toml(settings));
  return path;
}

void write_comparison(const ComparePlan& plan, const Comparison& comparison) {
  make_folder(plan.folder);
  write_text_file(plan.folder / "table.md", comparison_markdown(comparison));
  write_text_file(plan.folder / "table.csv", comparison_csv(comparison));
  write_text_file(plan.folder / "table.json", comparison_json(comparison));
}

}  // namespace drift
