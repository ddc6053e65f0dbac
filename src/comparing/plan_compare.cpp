#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "comparing/compare_parts.h"
#include "drift/calendar.h"
#include "drift/compare.h"
#include "drift/error.h"
#include "drift/field.h"
#include "drift/predict.h"
#include "fitting/networks.h"
#include "fitting/plan_identity.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

// One of each family that suits observations along tracks: random-feature networks, kriging, a global and a local sparse
// Gaussian process, a coordinate network. The rest are of the same families, or slower.
constexpr std::array<const char*, 7> kUsual = {"drift", "drift:parts=network", "drift:parts=process", "nngp", "experts", "svgp",
                                               "ffn"};

std::vector<std::string> method_texts(const std::vector<std::string>& wanted) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  for (const MethodInfo& method : compare_methods()) known.insert(method.name);
  if (wanted.empty()) {
    std::copy_if(kUsual.begin(), kUsual.end(), std::back_inserter(texts), [&](const char* name) { return known.contains(name); });
  }
  for (const std::string& text : wanted) {
    if (text != "all") {
      texts.push_back(text);
      continue;
    }
    for (const MethodInfo& method : compare_methods()) texts.push_back(method.name);
  }
  std::vector<std::string> once;
  for (const std::string& text : texts) {
    if (std::find(once.begin(), once.end(), text) == once.end()) once.push_back(text);
  }
  return once;
}

// Of all that every method depends on: also the folds by which rivals choose their settings, and what calibration takes from the
// plan, however the settings led to them.
std::string data_fingerprint(const ComparePlan& plan, const Observations& observations) {
  Fingerprint print;
  add_settings(print, with_absolute_paths(plan.fit.settings), on_comparison);
  add_plan(print, plan.fit, observations);
  const Folds& folds = plan.fit.folds;
  print.add(std::span<const std::uint8_t>(folds.of));
  print.add(std::span<const std::uint32_t>(folds.group));
  const NetworkSpec& spec = plan.fit.spec;
  for (const std::vector<double>* lengths : {&spec.spatial.lengthscales, &spec.temporal.lengthscales})
    print.add(std::span<const double>(*lengths));
  const std::array numbers = {static_cast<double>(folds.count), plan.fit.nugget_sd};
  print.add(std::span<const double>(numbers));
  return print.text();
}

void settle_map(ComparePlan& plan, const Observations& observations, const Control& control) {
  const CompareSettings& wanted = plan.fit.settings.compare;
  FieldModel outline;
  outline.domain = plan.fit.domain;
  outline.info = plan.info;
  const bool earth = plan.fit.domain.kind != DomainKind::xy;
  const std::span<const double> lon = earth ? std::span(observations.lon_deg) : std::span<const double>();
  const std::span<const double> lat = earth ? std::span(observations.lat_deg) : std::span<const double>();
  plan.grid = wanted.grid.empty() ? default_grid(outline) : read_grid(wanted.grid, lon, lat);
  const bool plane = plan.fit.domain.kind == DomainKind::xy;
  if (plane != (plan.grid.x.unit != "degrees_east" && plan.grid.crs.empty())) {
    throw UsageError(plane ? "the observations have plain x and y; leave the grid out, or give xy:X0,Y0,X1,Y1:STEP"
                           : "the observations have longitudes and latitudes, but the grid has plain x and y");
  }
  if (plan.info.has_time) {
    const double first = plan.info.first_time_days, last = plan.info.last_time_days;
    plan.map_time = 0.5 * (first + last);
    if (plan.info.calendar_time && last - first > 1.0) plan.map_time = std::round(24.0 * *plan.map_time) / 24.0;
    if (!wanted.map_time.empty()) plan.map_time = time_of_text(wanted.map_time);
  } else if (!wanted.map_time.empty()) {
    throw UsageError("[compare] map_time: the field does not vary in time");
  }
  if (wanted.truth.empty()) return;
  if (plane) throw UsageError("[compare] truth: a truth needs longitudes and latitudes, but the observations have x and y");
  plan.truth = open_truth(wanted.truth, 1, control);
  const std::optional<Range> known = plan.truth->time_days;
  if (known && !plan.map_time) {
    throw UsageError(fmt::format("[compare] truth: '{}' changes with time, but the fitted field does not", wanted.truth));
  }
  if (known && (*plan.map_time < known->low || *plan.map_time > known->high)) {
    throw UsageError(fmt::format("[compare] truth: it covers {} to {}, but the maps are at {}; give --map-time",
                                 iso_time(known->low), iso_time(known->high), iso_time(*plan.map_time)));
  }
}

}  // namespace

ComparePlan plan_compare(const RunSettings& settings, const Dataset& data, const MethodMaker& make, const Control& control) {
  RunSettings run = settings_under(control, settings);
  if (run.fit.method && run.fit.method->parts == FitMethod::other) run.fit.method.reset();  // that of drift fit alone
  ComparePlan plan;
  plan.make = make;
  plan.fit = plan_fit(run, data, Judging::held_out, control);
  if (plan.fit.split.held_out.empty() && plan.fit.test.empty()) {
    throw UsageError("compare needs observations that no method has seen; hold some out (--held-out 0.1, --split auto)");
  }
  if (run.uncertainty.noise == NoiseSource::sigma && data.observations.sigma.empty()) {
    throw UsageError("--noise sigma needs the standard error of each observation; name its variable with --sigma");
  }
  plan.methods = method_texts(run.compare.methods);
  for (const std::string& text : plan.methods) make(text, plan.fit, data);
  for (std::size_t i = 0; i < run.compare.seeds; ++i) plan.seeds.push_back(run.seed + i);
  plan.folder = run.compare.folder;
  plan.info = describe_field(plan.fit, data);
  settle_map(plan, data.observations, control);
  plan.fingerprint = data_fingerprint(plan, data.observations);
  plan.choices = plan.fit.choices;
  plan.choices.push_back(fmt::format("Methods: {}; {} seed{} each.", fmt::join(plan.methods, ", "), plan.seeds.size(),
                                     plan.seeds.size() == 1 ? "" : "s"));
  plan.choices.push_back(fmt::format(
      "Maps: {} by {} points{}.", plan.grid.x.count, plan.grid.y.count,
      plan.map_time
          ? fmt::format(" of {}", plan.info.calendar_time ? iso_time(*plan.map_time) : fmt::format("{:g}", *plan.map_time))
          : ""));
  return plan;
}

}  // namespace drift
