#include "fields/goes_with.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "fields/model_words.h"

namespace drift {
namespace {

// Of x and y, as the observations' files had it; empty: not known, or named by the settings, whatever the files had.
std::string unit_of_files(const FieldModel& model) {
  const std::optional<RunSettings> settings = settings_of(model);
  return settings && settings->domain.unit.empty() ? model.domain.unit : std::string();
}

void check_units(const char* of_what, const std::string& ours, const std::string& theirs) {
  if (ours == theirs || ours.empty() || theirs.empty()) return;
  throw UsageError(fmt::format("the model's {} are in {}, those of the observations in {}", of_what, ours, theirs));
}

}  // namespace

void check_positions(const FieldModel& model, bool on_plane, const std::string& whose) {
  const auto words = [](bool plane) { return plane ? "plain x and y" : "longitudes and latitudes"; };
  const bool plane = model.domain.kind == DomainKind::xy;
  if (plane == on_plane) return;
  throw UsageError(fmt::format("the model is defined on {}, but {} has {}; name its columns or variables of {} if it has both",
                               words(plane), whose, words(on_plane), words(plane)));
}

void check_lengths(const FieldModel& model, std::size_t longitudes, std::size_t latitudes, std::size_t times) {
  if (latitudes != longitudes) throw UsageError(fmt::format("prediction: {} longitudes but {} latitudes", longitudes, latitudes));
  if (!model.info.has_time && times > 0) throw UsageError("prediction: the model does not vary in time; leave the times out");
  if (model.info.has_time && times != 1 && times != longitudes)
    throw UsageError(fmt::format("prediction: {} positions but {} times; the model varies in time", longitudes, times));
}

void check_goes_with(const FieldModel& model, const Dataset& data) {
  const FieldInfo& info = model.info;
  check_positions(model, data.on_plane, "the data set");
  if (data.on_plane) check_units("x and y", unit_of_files(model), data.plane_unit);
  check_units("values", info.value.unit, data.value.unit);
  if (!info.has_time) return;
  if (data.observations.time_days.empty())
    throw UsageError("the model varies in time but the observations have no times; name their variable or column");
  if (info.calendar_time != data.calendar_time) {
    const auto words = [](bool calendar) { return calendar ? "dates" : "plain numbers"; };
    throw UsageError(fmt::format("the model's times are {}, those of the observations {}", words(info.calendar_time),
                                 words(data.calendar_time)));
  }
}

double days_outside(const FieldInfo& info, double time_days) {
  if (time_days < info.first_time_days) return time_days - info.first_time_days;
  return std::max(0.0, time_days - info.last_time_days);
}

double furthest_outside(const FieldInfo& info, std::span<const double> time_days) {
  double furthest = 0.0;
  for (const double time : info.has_time ? time_days : std::span<const double>()) {
    const double outside = std::isnan(time) ? 0.0 : days_outside(info, time);
    if (std::abs(outside) > std::abs(furthest)) furthest = outside;
  }
  return furthest;
}

}  // namespace drift
