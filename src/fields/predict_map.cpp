#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/field_file.h"
#include "drift/ocean_mask.h"
#include "drift/parse_number.h"
#include "drift/predict.h"
#include "drift/version.h"
#include "fields/variable_name.h"
#include "netcdf/acdd.h"

namespace drift {
namespace {

constexpr std::size_t kBlock = 65536;  // points predicted at a time

std::string iso_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  constexpr double kUnixEpoch = 7305.0;  // 1970-01-01 in days since 1950-01-01
  return iso_time(kUnixEpoch + std::floor(std::chrono::duration<double>(now).count()) / 86400.0);
}

// The map's variables, and where each gets its numbers from.
class MapLayers {
 public:
  MapLayers(const FieldModel& model, const MapOptions& options)
      : unit_(model.info.value.unit.empty() ? "1" : model.info.value.unit),
        members_(options.members ? model.ensemble.members.size() : 0) {
    const VariableInfo& value = model.info.value;
    const std::string name = variable_name(model.info.value);
    const std::string what = value.long_name.empty() ? name : value.long_name;
    FieldLayer mean = {.info = {name, what, value.standard_name, unit_}};
    if (model.has_spread()) mean.ancillary = {name + "_uncertainty", name + "_total_uncertainty"};
    add(mean, [](const FieldPrediction& p, std::size_t i) { return p.mean[i]; });
    if (model.has_spread()) {
      add({.info = {name + "_uncertainty", what + ": standard deviation of the field",
                    value.standard_name.empty() ? "" : value.standard_name + " standard_error", unit_},
           .comment = "Epistemic: what is not known of the field itself, without the noise of observations."},
          [](const FieldPrediction& p, std::size_t i) { return p.sd_epistemic[i]; });
      add({.info = {name + "_total_uncertainty", what + ": standard deviation of a new observation", "", unit_},
           .comment = fmt::format("The field's standard deviation with an observation's noise of {:g} added in quadrature.",
                                  model.info.noise_sd)},
          [](const FieldPrediction& p, std::size_t i) { return p.sd_total[i]; });
    }
    if (model.info.is_conformal() && model.info.conformal[2] > 0.0) add_interval(model, name, what);
    if (options.gradient) add_gradient(model, name, what);
    if (members_ > 0)
      layers_.push_back(
          {.info = {name + "_members", what + ": the ensemble's members", value.standard_name, unit_}, .members = members_});
  }

  const std::vector<FieldLayer>& layers() const { return layers_; }
  const std::string& no_currents() const { return no_currents_; }

  void write(FieldFileWriter& file, std::size_t time, std::size_t first_row, const FieldPrediction& prediction,
             std::span<const double> lat_deg) {
    const std::size_t n = prediction.mean.size();
    numbers_.resize(n);
    for (std::size_t layer = 0; layer < sources_.size(); ++layer) {
      for (std::size_t i = 0; i < n; ++i) numbers_[i] = sources_[layer](prediction, i, lat_deg[i]);
      file.write(layer, time, first_row, numbers_);
    }
    for (std::size_t member = 0; member < members_; ++member) {
      file.write(sources_.size(), time, first_row, std::span(prediction.members).subspan(member * n, n), member);
    }
  }

 private:
  using Source = std::function<float(const FieldPrediction&, std::size_t, double lat_deg)>;

  template <class Simple>
  void add(FieldLayer layer, Simple source) {
    layers_.push_back(std::move(layer));
    sources_.push_back([source](const FieldPrediction& p, std::size_t i, double) { return source(p, i); });
  }

  // The 90 % interval that held on held-out observations.
  void add_interval(const FieldModel& model, const std::string& name, const std::string& what) {
    const auto factor = static_cast<float>(model.info.conformal[2]);
    const std::string comment =
        "Split conformal: nine of ten new observations lie between lower90 and upper90 if they are like those held out.";
    add({.info = {name + "_lower90", what + ": lower end of the 90 % interval of a new observation", "", unit_},
         .comment = comment},
        [factor](const FieldPrediction& p, std::size_t i) { return p.mean[i] - factor * p.sd_total[i]; });
    add({.info = {name + "_upper90", what + ": upper end of the 90 % interval of a new observation", "", unit_},
         .comment = comment},
        [factor](const FieldPrediction& p, std::size_t i) { return p.mean[i] + factor * p.sd_total[i]; });
  }

  void add_gradient(const FieldModel& model, const std::string& name, const std::string& what) {
    const bool plane = model.domain.kind == DomainKind::xy;
    const std::string per = fmt::format("{} {}-1", unit_, model.domain.unit);
    add({.info = {name + (plane ? "_gradient_x" : "_gradient_east"),
                  what + (plane ? ": gradient along x" : ": eastward gradient"), "", per}},
        [](const FieldPrediction& p, std::size_t i) { return static_cast<float>(p.gradient[i].east); });
    add({.info = {name + (plane ? "_gradient_y" : "_gradient_north"),
                  what + (plane ? ": gradient along y" : ": northward gradient"), "", per}},
        [](const FieldPrediction& p, std::size_t i) { return static_cast<float>(p.gradient[i].north); });
    if (plane) {
      no_currents_ = "the model lives on plain x and y, without latitudes";
      return;
    }
    add_currents(sea_surface_height(model.info.value));
  }

  void add_currents(const SeaSurfaceHeight& height) {
    no_currents_ = height.why_none;
    if (height.kind == SeaSurfaceHeight::Kind::none) return;
    const bool anomaly = height.kind == SeaSurfaceHeight::Kind::anomaly;
    const auto layer = [&](bool east) -> FieldLayer {
      const char* const direction = east ? "eastward" : "northward";
      return {.info = {fmt::format("{}gos{}", east ? 'u' : 'v', anomaly ? "a" : ""),
                       anomaly ? fmt::format("Geostrophic velocity anomaly, {}", direction)
                               : fmt::format("Absolute geostrophic velocity, {}", direction),
                       fmt::format("surface_geostrophic_{}_sea_water_velocity{}", direction,
                                   anomaly ? "_assuming_mean_sea_level_for_geoid" : ""),
                       "m s-1"}};
    };
    const auto velocity = [factor = height.metres](const FieldPrediction& p, std::size_t i, double lat_deg) {
      return geostrophic_velocity(lat_deg, factor * p.gradient[i].east, factor * p.gradient[i].north);
    };
    layers_.push_back(layer(true));
    sources_.emplace_back(
        [velocity](const FieldPrediction& p, std::size_t i, double lat) { return static_cast<float>(velocity(p, i, lat).east); });
    layers_.push_back(layer(false));
    sources_.emplace_back([velocity](const FieldPrediction& p, std::size_t i, double lat) {
      return static_cast<float>(velocity(p, i, lat).north);
    });
  }

  std::string unit_;
  std::size_t members_;
  std::string no_currents_;
  std::vector<FieldLayer> layers_;
  std::vector<Source> sources_;
  std::vector<float> numbers_;
};

// Positions that the mask leaves out become NaN.
class Masker {
 public:
  Masker(const FieldModel& model, const MapMask& mask) : kind_(mask.kind) {
    if (kind_ == MapMask::Kind::data) near_.emplace(model.domain, model.cells, mask.distance);
  }
  void operator()(std::vector<double>& lon, std::vector<double>& lat) const {
    if (kind_ == MapMask::Kind::none) return;
    const std::vector<char> keep = near_ ? (*near_)(lon, lat) : is_ocean(lon, lat);
    for (std::size_t i = 0; i < lon.size(); ++i) {
      if (!keep[i]) lon[i] = lat[i] = std::nan("");
    }
  }

 private:
  MapMask::Kind kind_;
  std::optional<NearData> near_;
};

void check_options(const FieldModel& model, const MapOptions& options) {
  if (model.info.has_time == options.time_days.empty()) {
    throw UsageError(model.info.has_time ? "the model varies in time: the map needs a time"
                                         : "the model has no time, so the map can have none");
  }
  const bool plane = model.domain.kind == DomainKind::xy;
  if (plane != (options.grid.x.unit != "degrees_east" && options.grid.crs.empty())) {
    throw UsageError(plane ? "the model lives on plain x and y; leave the grid to drift, or give xy:X0,Y0,X1,Y1:STEP"
                           : "the model lives on the Earth, but the grid has plain x and y");
  }
  if (plane && options.mask.kind == MapMask::Kind::ocean)
    throw UsageError("the mask 'ocean' needs longitudes and latitudes, and the model has none");
}

std::map<std::string, std::string> attributes(const FieldModel& model, const MapOptions& options) {
  const VariableInfo& value = model.info.value;
  const std::string what = value.long_name.empty() ? value.name : value.long_name;
  const std::string now = iso_now();
  std::map<std::string, std::string> all = {
      {"title", what + ", interpolated by drift"},
      {"summary", fmt::format("{} from {} observations by an ensemble of {} deep random-feature networks", what,
                              model.info.training, model.ensemble.members.size())},
      {"source", fmt::format("drift {}", version())},
      {"date_created", now},
      {"history", fmt::format("{} {}", now, options.command.empty() ? "drift" : options.command)},
      {"references",
       "W. Chen, A. Mahmood, M. Tsamados, S. Takao, Deep random features for scalable interpolation of spatiotemporal data, "
       "ICLR 2025"}};
  for (const auto& [name, text] : options.attributes) {
    check_callers_attribute(name, text);
    all[name] = text;
  }
  return all;
}

}  // namespace

MapMask parse_mask(const std::string& text) {
  if (text == "none") return {};
  if (text == "ocean") return {.kind = MapMask::Kind::ocean};
  std::string_view rest(text);
  if (rest.starts_with("data:")) {
    rest.remove_prefix(5);
    if (rest.ends_with("km")) rest.remove_suffix(2);
    const auto distance = parse_number<double>(rest);
    if (distance && *distance > 0.0) return {.kind = MapMask::Kind::data, .distance = *distance};
  }
  throw UsageError(fmt::format("mask '{}': must be none, ocean, or data:DISTANCE, as data:100km", text));
}

MapReport predict_map(Engine& engine, const FieldModel& model, const MapOptions& options, const std::filesystem::path& path) {
  check_options(model, options);
  MapLayers layers(model, options);
  FieldFileWriter file(path, {.grid = options.grid,
                              .time_days = options.time_days,
                              .calendar_time = model.info.calendar_time,
                              .layers = layers.layers(),
                              .attributes = attributes(model, options)});
  const std::size_t columns = options.grid.x.count, times = std::max<std::size_t>(1, options.time_days.size());
  const std::size_t rows_a_block = std::max<std::size_t>(1, kBlock / columns);
  const Masker mask(model, options.mask);
  MapReport report;
  report.no_currents = layers.no_currents();
  report.points = options.grid.size();
  for (const FieldLayer& layer : layers.layers()) report.variables.push_back(layer.info.name);
  std::vector<double> lon, lat;
  for (std::size_t row = 0; row < options.grid.y.count; row += rows_a_block) {
    const std::size_t count = std::min(rows_a_block, options.grid.y.count - row) * columns;
    lon.resize(count);
    lat.resize(count);
    grid_positions(options.grid, row * columns, lon, lat);
    mask(lon, lat);
    report.filled += static_cast<std::size_t>(std::count_if(lon.begin(), lon.end(), [](double x) { return std::isfinite(x); }));
    for (std::size_t time = 0; time < times; ++time) {
      if (options.stop.stop_requested()) throw Error(fmt::format("stopped; {} was not written", path.string()));
      const std::span<const double> when =
          options.time_days.empty() ? std::span<const double>() : std::span(options.time_days).subspan(time, 1);
      layers.write(file, time, row,
                   predict_field(engine, model, lon, lat, when, {.members = options.members, .gradient = options.gradient}), lat);
      if (options.progress)
        options.progress(static_cast<double>(row * columns * times + (time + 1) * count),
                         static_cast<double>(report.points * times));
    }
  }
  file.finish();
  return report;
}

}  // namespace drift
