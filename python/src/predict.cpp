#include <pybind11/stl.h>
#include <unistd.h>

#include <cmath>
#include <mutex>
#include <variant>

#include "arrays.h"
#include "bindings.h"

drift::Engine& engine_for(const std::string& backend, int threads) {
  const auto chosen = drift::enum_named<drift::Backend>("backend", backend);
  // By process: a fork has its parent's memory, but none of its threads.
  static std::mutex mutex;
  static auto& engines = *new std::map<std::tuple<pid_t, drift::Backend, int>, std::unique_ptr<drift::Engine>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<drift::Engine>& engine = engines[{::getpid(), chosen, threads}];
  if (!engine) engine = drift::make_engine(chosen, {.threads = threads});
  return *engine;
}

namespace {

// Below so many points a prediction is over before anyone could want to stop it: no thread of its own, no progress.
constexpr std::size_t kAtOnce = 2048;

py::dict attributes_of(const drift::FieldLayer& layer) {
  py::dict attributes;
  const std::pair<const char*, const std::string&> all[] = {{"standard_name", layer.info.standard_name},
                                                            {"long_name", layer.info.long_name},
                                                            {"units", layer.info.unit},
                                                            {"comment", layer.comment}};
  for (const auto& [name, text] : all) {
    if (!text.empty()) attributes[name] = text;
  }
  return attributes;
}

// What a user should know of where and when a field was asked for: (points, of them far, what is far, others out of reach, days
// outside the observations' times; negative: before).
py::tuple warnings_of(std::size_t points, const drift::FarPoints& far, double days_outside) {
  return py::make_tuple(points, far.count, far.distance, far.unreached, days_outside);
}

// What a gradient does not bring, as a sentence each.
std::vector<std::string> lacks_of(const drift::GradientLacks& lacks) {
  std::vector<std::string> all;
  if (!lacks.currents.empty()) all.push_back("no geostrophic currents: " + lacks.currents);
  if (!lacks.sd.empty()) all.push_back("no standard deviations of gradients: " + lacks.sd);
  return all;
}

// ([(name, array [n] or [members, n], attributes)], lacks, warnings)
template <class Number>
py::tuple layers_at(const PyModel& self, const Straight<Number>& lon, const Straight<Number>& lat, const Positions& time,
                    const drift::PredictWants& wants, const std::string& backend, const JobOptions& options) {
  const drift::FieldModel& model = *self.model;
  const auto n = static_cast<std::size_t>(lon.size());
  drift::FarPoints far;
  double outside = 0.0;
  const auto work = [&](const drift::Control& control) {
    drift::PointLayers predicted = drift::predict_at(engine_for(backend, options.threads), model, span_of<Number>(lon),
                                                     span_of<Number>(lat), span_of<double>(time), wants, control);
    far = (*self.far)(model, span_of<Number>(lon), span_of<Number>(lat));
    outside = drift::furthest_outside(model.info, span_of<double>(time));
    return predicted;
  };
  drift::PointLayers layers;
  if (n <= kAtOnce) {
    const py::gil_scoped_release released;
    layers = work({});
  } else {
    layers = job(options, work);
  }
  py::list out;
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    const drift::FieldLayer& layer = layers.layers[i];
    std::vector<py::ssize_t> shape;
    if (layer.members > 0) shape = {static_cast<py::ssize_t>(layer.members), static_cast<py::ssize_t>(n)};
    out.append(py::make_tuple(layer.info.name, array_from(std::move(layers.values[i]), shape), attributes_of(layer)));
  }
  return py::make_tuple(out, lacks_of(layers.lacks), warnings_of(n, far, outside));
}

// Positions that are float32 both are taken as they are; any others as float64.
py::tuple predict_at(const PyModel& self, const py::array& lon, const py::array& lat, const Positions& time, bool members,
                     bool gradient, std::optional<double> gradient_scale, const std::string& backend, const JobOptions& options) {
  const drift::PredictWants wants = {.members = members, .gradient = gradient, .gradient_scale = gradient_scale};
  if (is_straight<float>(lon) && is_straight<float>(lat)) {
    const auto x = Straight<float>::ensure(lon), y = Straight<float>::ensure(lat);
    return layers_at<float>(self, x, y, time, wants, backend, options);
  }
  const auto x = Positions::ensure(lon), y = Positions::ensure(lat);
  if (!x || !y) throw py::error_already_set();
  return layers_at<double>(self, x, y, time, wants, backend, options);
}

py::dict attributes_from(const std::vector<drift::FieldAttribute>& attributes) {
  py::dict out;
  for (const drift::FieldAttribute& attribute : attributes) {
    if (attribute.numbers.empty())
      out[py::str(attribute.name)] = attribute.text;
    else if (attribute.numbers.size() == 1)
      out[py::str(attribute.name)] = py::array_t<double>(1, attribute.numbers.data())[py::int_(0)];  // float64, as netCDF4 has it
    else
      out[py::str(attribute.name)] =
          py::array_t<double>(static_cast<py::ssize_t>(attribute.numbers.size()), attribute.numbers.data());
  }
  return out;
}

// ([(name, dimensions, array, attributes)], attributes of the whole): a field as xarray takes it.
std::pair<py::list, py::dict> field_as_python(drift::Field field) {
  drift::CfField cf = drift::cf_field(field.header);
  std::map<std::string, py::ssize_t> lengths;
  for (const auto& [name, length] : cf.dimensions) lengths[name] = static_cast<py::ssize_t>(length);
  std::map<std::string, std::size_t> layers;
  for (std::size_t i = 0; i < field.header.layers.size(); ++i) layers[field.header.layers[i].info.name] = i;
  py::list variables;
  for (drift::CfVariable& variable : cf.variables) {
    std::vector<py::ssize_t> shape;
    for (const std::string& dimension : variable.dimensions) shape.push_back(lengths.at(dimension));
    const bool is_layer = layers.contains(variable.name);
    py::object numbers;
    if (is_layer && !field.header.layers[layers.at(variable.name)].needs_double()) {  // as the file would have it
      const std::vector<double>& values = field.values[layers.at(variable.name)];
      numbers = array_from(std::vector<float>(values.begin(), values.end()), shape);
    } else if (is_layer) {
      numbers = array_from(std::move(field.values[layers.at(variable.name)]), shape);
    } else if (variable.numbers.empty()) {
      numbers = py::none();  // a grid mapping: attributes alone
    } else if (variable.dimensions.empty()) {
      numbers = py::array_t<double>(1, variable.numbers.data())[py::int_(0)];  // the only time of a projected map
    } else if (variable.whole_numbers) {
      numbers = array_from(std::vector<std::int32_t>(variable.numbers.begin(), variable.numbers.end()), shape);
    } else {
      numbers = array_from(std::move(variable.numbers), shape);
    }
    variables.append(py::make_tuple(variable.name, variable.dimensions, numbers, attributes_from(variable.attributes), is_layer));
  }
  return {variables, attributes_from(cf.attributes)};
}

// (variables, attributes, lacks, warnings)
py::tuple predict_map(const PyModel& self, const std::variant<std::string, drift::Grid>& grid,
                      const std::vector<double>& time_days, const std::string& mask, bool members, bool gradient,
                      std::optional<double> gradient_scale, const std::map<std::string, std::string>& attributes,
                      const std::string& command, const std::string& backend, const JobOptions& options) {
  const drift::FieldModel& model = *self.model;
  const auto* const text = std::get_if<std::string>(&grid);
  const drift::MapOptions map = {.grid = text != nullptr ? drift::grid_for(model, *text) : std::get<drift::Grid>(grid),
                                 .time_days = time_days,
                                 .wants = {.members = members, .gradient = gradient, .gradient_scale = gradient_scale},
                                 .masks = drift::parse_masks(mask),
                                 .command = command,
                                 .attributes = attributes};
  drift::Field field;
  const drift::MapReport report = job(options, [&](const drift::Control& control) {
    return drift::predict_map(engine_for(backend, options.threads), model, map, drift::memory_sink(field), control);
  });
  const auto [variables, whole] = field_as_python(std::move(field));
  const double outside = drift::furthest_outside(model.info, time_days);
  return py::make_tuple(variables, whole, lacks_of(report.lacks), warnings_of(report.filled, report.far, outside));
}

std::vector<double> map_times(const PyModel& self, const std::string& text) { return drift::map_times(self.model->info, text); }

py::dict plot(const std::string& map, const std::string& picture, const std::string& variable, const std::string& time,
              const std::string& panels, const std::optional<std::array<double, 2>>& limits,
              const std::optional<std::array<double, 2>>& sd_limits, const std::string& colours, const std::string& sd_colours,
              const std::string& title, double width_cm, int dpi, const PyDataset* observations, double observations_days,
              bool arrows, bool histogram, double frames_per_second, const JobOptions& job_options) {
  drift::PlotOptions options;
  options.variable = variable;
  options.time = time;
  options.panels = drift::enum_named<drift::PlotPanels>("panels", panels);
  options.limits = limits;
  options.sd_limits = sd_limits;
  options.colours = colours;
  options.sd_colours = sd_colours;
  options.title = title;
  options.width_cm = width_cm;
  options.dpi = dpi;
  if (observations != nullptr) {
    options.observations = observations->data.observations;
    if (!observations->data.calendar_time) options.observations.time_days.clear();
  }
  options.observations_days = observations_days;
  options.arrows = arrows;
  options.histogram = histogram;
  options.frames_per_second = frames_per_second;
  const drift::PlotReport report =
      job(job_options, [&](const drift::Control& control) { return drift::plot_map(map, picture, options, control); });
  py::dict out;
  out["variable"] = report.variable;
  out["sd_variable"] = report.sd_variable;
  out["time"] = report.time;
  out["times"] = report.times;
  out["projection"] = report.projection;
  return out;
}

}  // namespace

void bind_predict(py::module_& module) {
  module.def("predict_at", &predict_at, py::arg("model"), py::arg("lon"), py::arg("lat"), py::arg("time"), py::arg("members"),
             py::arg("gradient"), py::arg("gradient_scale"), py::arg("backend"), py::arg("job"));
  module.def("predict_map", &predict_map, py::arg("model"), py::arg("grid"), py::arg("time_days"), py::arg("mask"),
             py::arg("members"), py::arg("gradient"), py::arg("gradient_scale"), py::arg("attributes"), py::arg("command"),
             py::arg("backend"), py::arg("job"));
  module.def("map_times", &map_times, py::arg("model"), py::arg("text"));
  module.def("plot", &plot, py::arg("map"), py::arg("picture"), py::arg("variable"), py::arg("time"), py::arg("panels"),
             py::arg("limits"), py::arg("sd_limits"), py::arg("colours"), py::arg("sd_colours"), py::arg("title"),
             py::arg("width_cm"), py::arg("dpi"), py::arg("observations"), py::arg("observations_days"), py::arg("arrows"),
             py::arg("histogram"), py::arg("frames_per_second"), py::arg("job"));
}
