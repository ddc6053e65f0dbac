#include "warnings.h"

#include <fmt/format.h>

#include <cmath>

#include "drift/grouped.h"
#include "run_options.h"

void report_reading(const VerbControl& verb, const drift::Reading& reading) {
  verb.say(reading_text(reading));
  for (const std::string& warning : reading.report.warnings) verb.warn(warning);
}

void warn_of_times(const VerbControl& verb, double furthest_days) {
  if (furthest_days == 0.0) return;
  verb.warn(fmt::format("some points lie up to {:.3g} days {} observation; the field there is an extrapolation",
                        std::abs(furthest_days), furthest_days < 0.0 ? "before the first" : "after the last"));
}

void warn_of_far_points(const VerbControl& verb, const drift::FieldModel& model, const drift::FarPoints& far, std::size_t points,
                        const std::string& remedy) {
  if (far.unreached > 0) {
    verb.warn(fmt::format(
        "{} beyond the reach of the model's projection, {}: no value there",
        far.unreached == 1 ? "1 point lies" : fmt::format("{} points lie", drift::grouped(static_cast<double>(far.unreached))),
        model.domain.crs));
  }
  if (far.count == 0) return;
  verb.warn(fmt::format("{} of {} points lie more than {:.3g} {} from any observation: the field there is a guess{}",
                        drift::grouped(static_cast<double>(far.count)), drift::grouped(static_cast<double>(points)), far.distance,
                        model.domain.unit, remedy));
}
