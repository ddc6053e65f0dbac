#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

#include "core/blocks.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/predict.h"
#include "drift/version.h"
#include "fields/layers.h"
#include "fields/map_mask.h"
#include "fields/model_words.h"
#include "fields/sources.h"
#include "netcdf/acdd.h"

namespace drift {
namespace {

std::string iso_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  constexpr double kUnixEpoch = 7305.0;  // 1970-01-01 in days since 1950-01-01
  return iso_time(kUnixEpoch + std::floor(std::chrono::duration<double>(now).count()) / 86400.0);
}

void check_options(const FieldModel& model, const MapOptions& options) {
  if (model.info.has_time == options.time_days.empty()) {
    throw UsageError(model.info.has_time ? "the model varies in time, so a map needs a time"
                                         : "the model does not vary in time; leave the times out");
  }
  const bool plane = model.domain.kind == DomainKind::xy;
  if (plane != (options.grid.x.unit != "degrees_east" && options.grid.crs.empty())) {
    throw UsageError(plane ? "the model is defined on plain x and y; leave the grid out, or give xy:X0,Y0,X1,Y1:STEP"
                           : "the model has longitudes and latitudes, but the grid has plain x and y");
  }
}

std::map<std::string, std::string> attributes(const FieldModel& model, const MapOptions& options) {
  const VariableInfo& value = model.info.value;
  const std::string what = value.long_name.empty() ? value.name : value.long_name;
  const std::string now = iso_now();
  std::map<std::string, std::string> all = {
      {"title", what + ", interpolated by drift"},
      {"summary", fmt::format("{} from {} observations by {}", what, model.info.training, parts_text(model))},
      {"source", fmt::format("drift {}", version())},
      {"date_created", now},
      {"history", fmt::format("{}{} {}", model.info.provenance.empty() ? "" : "observations: " + model.info.provenance + "\n",
                              now, options.command.empty() ? "drift" : options.command)}};
  if (const std::string references = references_of(model); !references.empty()) all["references"] = references;
  if (!model.sha256.empty()) all["model_sha256"] = model.sha256;
  if (!model.sources.empty()) all["input_files"] = sources_line(model.sources);
  if (const auto settings = settings_of(model)) all["random_seed"] = fmt::format("{}", settings->seed);
  for (const auto& [name, text] : options.attributes) {
    check_callers_attribute(name, text);
    all[name] = text;
  }
  return all;
}

}  // namespace

MapReport predict_map(Engine& engine, const FieldModel& model, const MapOptions& options, const SinkMaker& open,
                      const Control& control) {
  check_options(model, options);
  const LayerMaker layers(model, options.wants);
  const std::unique_ptr<FieldSink> sink = open({.grid = options.grid,
                                                .time_days = options.time_days,
                                                .calendar_time = model.info.calendar_time,
                                                .layers = layers.layers(),
                                                .attributes = attributes(model, options)});
  const std::size_t columns = options.grid.x.count, times = std::max<std::size_t>(1, options.time_days.size());
  const std::size_t rows_per_block = std::max<std::size_t>(1, kPointsAtATime / columns);
  const double blocks = std::ceil(static_cast<double>(options.grid.y.count) / static_cast<double>(rows_per_block));
  const double steps = blocks * static_cast<double>(times);
  const MapMasker mask(model, options.masks, control);
  const FieldPredictor predict(engine, model);
  FarCounter far(model);
  MapReport report;
  report.lacks = layers.lacks();
  report.points = options.grid.size();
  for (const FieldLayer& layer : layers.layers()) report.variables.push_back(layer.info.name);
  std::vector<double> lon, lat, lon_now, lat_now;  // of a block; at one of its times
  double done = 0.0;
  for (std::size_t row = 0; row < options.grid.y.count; row += rows_per_block) {
    const std::size_t count = std::min(rows_per_block, options.grid.y.count - row) * columns;
    lon.resize(count);
    lat.resize(count);
    grid_positions(options.grid, row * columns, lon, lat);
    mask.fixed(lon, lat);
    std::vector<char> asked(count, 0), filled(count, 0);  // at any time
    for (std::size_t time = 0; time < times; ++time) {
      const std::span<const double> when =
          options.time_days.empty() ? std::span<const double>() : std::span(options.time_days).subspan(time, 1);
      lon_now = lon, lat_now = lat;
      mask.varying(lon_now, lat_now, when.empty() ? std::nullopt : std::optional(when.front()));
      const auto begin = std::chrono::steady_clock::now();
      const std::clock_t spent = std::clock();
      const FieldPrediction block =
          predict(lon_now, lat_now, when, options.wants, control.part(done / steps, (done + 1.0) / steps));
      report.predict_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      report.predict_core_s += static_cast<double>(std::clock() - spent) / CLOCKS_PER_SEC;
      layers.each(block, lat_now, [&](std::size_t layer, std::size_t member, std::span<const double> values) {
        sink->write(layer, time, row, values, member);
      });
      for (std::size_t i = 0; i < count; ++i) {
        asked[i] = asked[i] || std::isfinite(lon_now[i]) ? 1 : 0;
        filled[i] = filled[i] || std::isfinite(block.mean[i]) ? 1 : 0;
      }
      done += 1.0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!asked[i]) lon[i] = lat[i] = std::nan("");
      report.filled += filled[i] ? 1 : 0;
    }
    far.add(lon, lat, control);
  }
  sink->finish(control);
  report.far = far.result();
  return report;
}

Field predict_map(const FieldModel& model, const MapOptions& options, const Control& control) {
  Field field;
  const std::unique_ptr<Engine> engine = make_engine(Backend::automatic, {.threads = control.threads});
  predict_map(*engine, model, options, memory_sink(field), control);
  return field;
}

}  // namespace drift
