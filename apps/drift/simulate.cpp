// `drift simulate`: observations along the ground tracks of real missions, of a truth that is known.

#include "drift/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/parse_number.h"
#include "drift/track_file.h"
#include "drift/truth.h"
#include "number_checks.h"
#include "print.h"
#include "verb_control.h"

namespace {

struct SimulateVerb {
  std::string out, truth = "synthetic", variable, start, bbox, velocity;
  drift::SimulateOptions options = drift::simulate_defaults();
  std::optional<double> days, evolution_days;
  std::optional<std::size_t> observations;
  bool json = false, quiet = false;
};

std::array<double, 4> parse_box(const std::string& text) {
  const auto box = drift::parse_numbers<double>(text, ',', 4);
  if (!box) throw drift::UsageError(fmt::format("--bbox: '{}' is not four numbers LON0,LAT0,LON1,LAT1", text));
  return {(*box)[0], (*box)[1], (*box)[2], (*box)[3]};
}

// The truth by a text that says all of it, so that `drift compare --truth` knows the same one.
std::string truth_text(const SimulateVerb& verb) {
  const bool synthetic = drift::names_synthetic(verb.truth), file = !synthetic && verb.truth != "geoid";
  if (!file && !verb.variable.empty()) {
    throw drift::UsageError(fmt::format("--variable is for a truth from a file, but --truth is {}", verb.truth));
  }
  if (!synthetic) {
    for (const auto& [option, given] :
         {std::pair{"--evolution-days", verb.evolution_days.has_value()}, {"--velocity", !verb.velocity.empty()}}) {
      if (given) throw drift::UsageError(fmt::format("{} is for the synthetic truth, but --truth is {}", option, verb.truth));
    }
    if (verb.variable.empty()) return verb.truth;
    const std::size_t name = std::min(verb.truth.rfind(" - "), verb.truth.size());  // "FILE - geoid"
    return verb.truth.substr(0, name) + ":" + verb.variable + verb.truth.substr(name);
  }
  drift::SyntheticFieldOptions field = drift::parse_synthetic(verb.truth, verb.options.seed);
  const auto refuse_twice = [&](const char* option, bool in_text) {
    if (in_text) throw drift::UsageError(fmt::format("{} is given, but --truth {} has one already", option, verb.truth));
  };
  if (verb.evolution_days) {
    refuse_twice("--evolution-days", field.evolution_days > 0.0);
    field.evolution_days = *verb.evolution_days;
  }
  if (!verb.velocity.empty()) {
    refuse_twice("--velocity", !field.velocity.still());
    field.velocity = drift::parse_velocity(verb.velocity);
  }
  return drift::to_text(field);
}

class Simulate {
 public:
  explicit Simulate(const SimulateVerb& verb) : verb_(verb), options_(verb.options) {}

  void run() {
    drift::check_outputs(drift::named_file("the truth", verb_.truth), {{"the observations", verb_.out}});
    if (!verb_.bbox.empty()) options_.box = parse_box(verb_.bbox);
    truth_text_ = truth_text(verb_);
    const VerbControl verb(false, false);
    truth_ = drift::open_truth(truth_text_, 1, verb.quiet_job());
    settle_time();
    if (verb_.observations) options_.rate_hz = drift::rate_for(*verb_.observations, options_);
    observations_ = drift::simulate(truth_.truth, options_, &report_, verb.quiet_job());
    if (observations_.size() == 0) fail_without_observations();
    if (options_.noise_sd > 0.0) observations_.sigma.assign(observations_.size(), static_cast<float>(options_.noise_sd));
    drift::write_track_file(verb_.out, observations_, truth_.info, {.attributes = attributes()});
    if (verb_.json)
      print_json();
    else if (!verb_.quiet)
      print_text();
  }

 private:
  // Unless told otherwise: from the first midnight that the truth has, for as long as it lasts.
  void settle_time() {
    constexpr double kTolerance = 1e-6;  // days: rounding in start + days
    const std::string& start = verb_.start;
    if (!start.empty() && !drift::parse_iso_time(start, options_.start_days)) {
      throw drift::UsageError(fmt::format("--start: '{}' is not a time such as 2020-03-01 or 2020-03-01T06:00", start));
    }
    if (verb_.days) options_.days = *verb_.days;
    if (!truth_.time_days || !std::isfinite(truth_.time_days->low)) return;
    const auto [low, high] = *truth_.time_days;
    if (start.empty()) options_.start_days = std::ceil(low) < high ? std::ceil(low) : low;
    if (!verb_.days && high > options_.start_days) options_.days = std::min(options_.days, high - options_.start_days);
    if (options_.start_days < low - kTolerance || end_days() > high + kTolerance) {
      throw drift::UsageError(
          fmt::format("--truth {} covers {} to {}, but observations are requested from {} to {}; change "
                      "--start or --days",
                      truth_text_, drift::iso_time(low), drift::iso_time(high), drift::iso_time(options_.start_days),
                      drift::iso_time(end_days())));
    }
  }

  [[noreturn]] void fail_without_observations() const {
    if (report_.without_truth == 0) throw drift::UsageError("no observations: no platform crosses the --bbox in this time");
    throw drift::Error(fmt::format("no observations: the truth {} is missing at all {} positions", truth_text_,
                                   drift::grouped(static_cast<double>(report_.without_truth))));
  }

  std::string unit() const { return truth_.info.unit.empty() || truth_.info.unit == "1" ? "" : " " + truth_.info.unit; }
  double end_days() const { return options_.start_days + options_.days; }
  std::size_t tracks() const {
    std::size_t count = 1;
    for (std::size_t i = 1; i < observations_.size(); ++i) count += observations_.track[i] != observations_.track[i - 1] ? 1 : 0;
    return count;
  }
  std::string noise_text() const {
    std::string text = fmt::format("noise of {:g}{}", options_.noise_sd, unit());
    if (options_.outlier_share > 0.0) {
      text += fmt::format(", {} outliers of {:g}{} more", drift::grouped(static_cast<double>(report_.outliers)),
                          options_.outlier_sd, unit());
    }
    return text;
  }

  std::map<std::string, std::string> attributes() const {
    const std::string what = truth_.info.long_name.empty() ? truth_.info.name : truth_.info.long_name;
    return {{"title", fmt::format("Simulated observations of {}", what)},
            {"summary", fmt::format("{} as {} would observe it, with {}; truth: {}", what, fmt::join(options_.platforms, ", "),
                                    noise_text(), truth_text_)},
            {"platform", fmt::format("{}", fmt::join(options_.platforms, ", "))},
            {"comment", fmt::format("simulated, not measured; seed {}", options_.seed)}};
  }

  void print_json() const {
    nlohmann::ordered_json json = {{"file", verb_.out},
                                   {"observations", observations_.size()},
                                   {"tracks", tracks()},
                                   {"truth", truth_text_},
                                   {"platforms", options_.platforms},
                                   {"variable", truth_.info.name},
                                   {"unit", truth_.info.unit},
                                   {"start", drift::iso_time(options_.start_days)},
                                   {"days", options_.days},
                                   {"rate_hz", options_.rate_hz},
                                   {"noise_sd", options_.noise_sd},
                                   {"outliers", report_.outliers},
                                   {"without_truth", report_.without_truth},
                                   {"seed", options_.seed}};
    ::print_json(json);
  }

  void print_text() const {
    print("{}  {} observations of {} on {} tracks of {}\n", verb_.out, drift::grouped(static_cast<double>(observations_.size())),
          truth_.info.name, drift::grouped(static_cast<double>(tracks())),
          fmt::format("{}", fmt::join(options_.platforms, ", ")));
    print("  {} to {}, {:.3g} per second, {}\n", drift::iso_time(options_.start_days), drift::iso_time(end_days()),
          options_.rate_hz, noise_text());
    print("  truth: {}\n", truth_text_);
    if (report_.without_truth > 0) {
      print("  {} left out because the truth is missing there\n", drift::grouped(static_cast<double>(report_.without_truth)));
    }
    print("Next: drift fit {}\n", verb_.out);
  }

  const SimulateVerb& verb_;
  drift::SimulateOptions options_;
  std::string truth_text_;
  drift::NamedTruth truth_;
  drift::Observations observations_;
  drift::SimulateReport report_;
};

CLI::Validator share() {
  const auto check = [](std::string& text) -> std::string {
    const auto number = drift::parse_number<double>(text);
    return number && *number >= 0.0 && *number <= 1.0 ? "" : fmt::format("'{}' is not a number from 0 to 1", text);
  };
  return CLI::Validator(check, "");
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateVerb>();
  drift::SimulateOptions& given = options->options;
  const drift::SimulateOptions usual = given;
  CLI::App* verb = app.add_subcommand(
      "simulate", "Simulate observations of a known truth along satellite tracks (Sentinel-3A, Sentinel-3B, CryoSat-2)");
  verb->footer(
      "drift simulate --out tracks.nc --truth geoid --bbox -50,25,-10,55\n"
      "drift simulate --out tracks.nc --truth model.nc --variable zos --platforms Sentinel-3A,CryoSat-2 --days 30\n"
      "drift simulate --out tracks.nc --bbox -60,20,0,60 --evolution-days 10 --velocity 20,-5,-30,40");
  const auto add = [&](const char* name, auto& value, const std::string& help) {
    return verb->add_option(name, value, help)->type_name("");
  };
  add("--out", options->out, "The observations (NetCDF)")->required();
  add("--truth", options->truth,
      "A CF NetCDF file of a field on a grid; geoid: EGM96, in m; synthetic[:SEED]: a synthetic field [synthetic]");
  add("--evolution-days", options->evolution_days,
      "Synthetic truth: days over which its correlation in time falls to 1/e; 0: its shape does not change [0]")
      ->check(non_negative_number());
  add("--velocity", options->velocity,
      "Synthetic truth: its drift, EAST,NORTH[,LON,LAT], in km per day at that place (default 0 E 0 N) [none]");
  add("--variable", options->variable, "Variable of the file [its only gridded one]");
  add("--platforms", given.platforms, fmt::format("Satellites [{}]", fmt::join(usual.platforms, ",")))->delimiter(',');
  add("--start", options->start,
      fmt::format("Time of the first observation (ISO 8601, UTC) [{}, or the start of the truth]",
                  drift::iso_time(usual.start_days).substr(0, 10)));
  add("--days", options->days, fmt::format("Duration, days [{:g}, or that of the truth]", usual.days))->check(positive_number());
  CLI::Option* rate = add("--rate-hz", given.rate_hz, fmt::format("Observations per second and satellite [{:g}]", usual.rate_hz))
                          ->check(positive_number());
  add("--observations", options->observations, "Approximate total number, in place of --rate-hz")
      ->check(whole_number(1, 4'000'000'000))
      ->excludes(rate);
  add("--noise", given.noise_sd, fmt::format("Standard deviation of the noise, in the truth's unit [{:g}]", usual.noise_sd))
      ->check(non_negative_number());
  CLI::Option* outliers =
      add("--outliers", given.outlier_share, "Fraction of observations with an additional large error, 0 to 1 [0]")
          ->check(share());
  CLI::Option* size =
      add("--outlier-size", given.outlier_sd, "Standard deviation of that error, in the truth's unit")->check(positive_number());
  outliers->needs(size);
  size->needs(outliers);
  add("--bbox", options->bbox,
      "Observe only in this box: LON0,LAT0,LON1,LAT1 in degrees; LON0 > LON1 crosses the date line [everywhere]");
  add("--seed", given.seed, "Seed of noise, outliers and the synthetic field [1]")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  add("--threads", given.threads, "Threads; 0 = one per core [0]")->check(whole_number(0, 4096));
  verb->add_flag("--json", options->json, "Print the result as JSON");
  add_quiet(*verb, options->quiet);
  verb->callback([options] { Simulate(*options).run(); });
}
