#include <pybind11/stl.h>

#include <array>

#include "arrays.h"
#include "bindings.h"

namespace {

// Columns by name; those that are None stay empty. Lengths and numbers are checked by make_dataset, as strictly as a file's.
drift::Observations observations_from(const py::dict& columns, std::vector<std::string> platform_names) {
  const auto get = [&]<class Number>(const char* name, std::vector<Number>& into) {
    if (const py::object column = columns[name]; !column.is_none()) into = column_from<Number>(column.cast<py::array>());
  };
  drift::Observations seen;
  get("lon", seen.lon_deg);
  get("lat", seen.lat_deg);
  get("time", seen.time_days);
  get("value", seen.value);
  get("sigma", seen.sigma);
  get("track", seen.track);
  get("platform", seen.platform);
  seen.platform_names = std::move(platform_names);
  return seen;
}

// A message about columns in the caller's words, which has names of its own for what the library calls 'lat_deg'.
std::string in_words(std::string message, const std::map<std::string, std::string>& words) {
  for (const auto& [ours, theirs] : words) {
    const std::string quoted = "'" + ours + "'";
    for (std::size_t at = 0; (at = message.find(quoted, at)) != std::string::npos; at += theirs.size() + 2)
      message.replace(at, quoted.size(), "'" + theirs + "'");
  }
  return message;
}

PyDataset dataset_from(const py::dict& columns, const std::vector<std::string>& platform_names,
                       const std::array<std::string, 4>& value, bool on_plane, const std::string& plane_unit, bool calendar_time,
                       double track_gap_s, const std::string& provenance, const std::map<std::string, std::string>& words) {
  drift::Observations seen = observations_from(columns, platform_names);
  const drift::VariableInfo info = {value[0], value[1], value[2], value[3]};
  const drift::ArrayOptions options = {.on_plane = on_plane,
                                       .plane_unit = plane_unit,
                                       .calendar_time = calendar_time,
                                       .track_gap_s = track_gap_s,
                                       .provenance = provenance};
  const py::gil_scoped_release released;
  try {
    return {.data = drift::make_dataset(std::move(seen), info, options)};
  } catch (const drift::UsageError& error) {
    throw drift::UsageError(in_words(error.what(), words));
  }
}

PyDataset read_files(const drift::RunSettings& settings, const JobOptions& options) {
  drift::Reading reading = job(options, [&](const drift::Control& control) { return drift::read_run(settings, control); });
  PyDataset dataset = {.data = {}, .read = settings, .report = std::move(reading.report)};
  dataset.data = std::move(static_cast<drift::Dataset&>(reading));
  return dataset;
}

PyDataset simulate(const std::string& truth_text, const drift::SimulateOptions& options, const JobOptions& job_options) {
  drift::NamedTruth truth;
  drift::Observations seen = job(job_options, [&](const drift::Control& control) {
    truth = drift::open_truth(truth_text, options.seed, control);
    return drift::simulate(truth.truth, options, nullptr, control);
  });
  if (seen.size() == 0) throw drift::UsageError("no observations: no platform crosses the box in this time");
  if (options.noise_sd > 0.0) seen.sigma.assign(seen.size(), static_cast<float>(options.noise_sd));
  return {.data = drift::make_dataset(std::move(seen), truth.info, {.provenance = "drift simulate: " + truth_text})};
}

py::dict summary_of(const PyDataset& dataset) {
  drift::Summary summary;
  {
    const py::gil_scoped_release released;
    summary = drift::summarise(dataset.data);
  }
  py::dict platforms, quantiles, out;
  for (const auto& platform : summary.platforms) platforms[py::str(platform.name)] = platform.count;
  constexpr std::array<double, 7> kLevels = {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0};
  for (std::size_t i = 0; i < kLevels.size(); ++i) quantiles[py::float_(kLevels.at(i))] = summary.quantiles.at(i);
  out["count"] = summary.count;
  out["lon"] = py::make_tuple(summary.lon.least, summary.lon.most);
  out["lat"] = py::make_tuple(summary.lat.least, summary.lat.most);
  if (summary.has_time) out["time_days"] = py::make_tuple(summary.time.least, summary.time.most);
  out["platforms"] = platforms;
  out["tracks"] = dataset.data.tracks;
  out["mean"] = summary.mean;
  out["sd"] = summary.sd;
  out["quantiles"] = quantiles;
  return out;
}

PyDataset changed(const PyDataset& before, drift::Dataset data) {
  return {.data = std::move(data), .read = before.read, .report = before.report};
}

// Those that there are, by name.
std::map<std::string, std::string> named(const drift::Roles& roles) {
  std::map<std::string, std::string> all = {{"lon", roles.lon},     {"lat", roles.lat},     {"x", roles.x},
                                            {"y", roles.y},         {"time", roles.time},   {"value", roles.value},
                                            {"sigma", roles.sigma}, {"track", roles.track}, {"platform", roles.platform}};
  std::erase_if(all, [](const auto& role) { return role.second.empty(); });
  return all;
}

py::object report_of(const PyDataset& dataset) {
  if (!dataset.report) return py::none();
  const drift::ReadReport& report = *dataset.report;
  py::dict rejected, out;
  for (const drift::Rejected& reason : report.rejected) rejected[py::str(reason.reason)] = reason.count;
  py::list files;
  for (const auto& file : report.files) files.append(file.string());
  out["files"] = files;
  out["format"] = report.format;
  out["preset"] = report.preset;
  out["roles"] = named(report.roles);
  out["rows"] = report.rows;
  out["rejected"] = rejected;
  out["quality_control"] = report.quality;
  out["warnings"] = report.warnings;
  return out;
}

py::object report_state(const std::optional<drift::ReadReport>& report) {
  if (!report) return py::none();
  std::vector<std::string> files;
  for (const auto& file : report->files) files.push_back(file.string());
  std::vector<std::pair<std::string, std::size_t>> rejected;
  for (const drift::Rejected& reason : report->rejected) rejected.emplace_back(reason.reason, reason.count);
  const drift::Roles& r = report->roles;
  return py::make_tuple(files, report->format, report->preset,
                        py::make_tuple(r.lon, r.lat, r.x, r.y, r.time, r.value, r.sigma, r.track, r.platform), report->rows,
                        rejected, report->quality, report->quality_left_out, report->warnings);
}

std::optional<drift::ReadReport> report_from_state(const py::object& state) {
  if (state.is_none()) return std::nullopt;
  const auto parts = state.cast<py::tuple>();
  drift::ReadReport report;
  for (const auto& file : parts[0].cast<std::vector<std::string>>()) report.files.emplace_back(file);
  report.format = parts[1].cast<std::string>();
  report.preset = parts[2].cast<std::string>();
  const auto r = parts[3].cast<std::array<std::string, 9>>();
  report.roles = {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]};
  report.rows = parts[4].cast<std::size_t>();
  for (const auto& [reason, count] : parts[5].cast<std::vector<std::pair<std::string, std::size_t>>>())
    report.rejected.push_back({reason, count});
  report.quality = parts[6].cast<std::vector<std::string>>();
  report.quality_left_out = parts[7].cast<std::size_t>();
  report.warnings = parts[8].cast<std::vector<std::string>>();
  return report;
}

py::tuple state_of(const PyDataset& dataset) {
  const drift::Dataset& data = dataset.data;
  const drift::Observations& seen = data.observations;
  return py::make_tuple(array_from(seen.lon_deg), array_from(seen.lat_deg), array_from(seen.time_days), array_from(seen.value),
                        array_from(seen.sigma), array_from(seen.track), array_from(seen.platform), seen.platform_names,
                        py::make_tuple(data.value.name, data.value.long_name, data.value.standard_name, data.value.unit),
                        static_cast<int>(data.layout), data.on_plane, data.plane_unit, data.calendar_time, data.tracks_from,
                        data.tracks, data.test, data.provenance, drift::to_toml(dataset.read), report_state(dataset.report));
}

PyDataset dataset_of(const py::tuple& state) {
  if (state.size() != 19) throw drift::Error("this is not a pickled drift.Dataset of this version");
  PyDataset dataset;
  drift::Dataset& data = dataset.data;
  drift::Observations& seen = data.observations;
  seen.lon_deg = column_from<double>(state[0].cast<py::array>());
  seen.lat_deg = column_from<double>(state[1].cast<py::array>());
  seen.time_days = column_from<double>(state[2].cast<py::array>());
  seen.value = column_from<double>(state[3].cast<py::array>());
  seen.sigma = column_from<float>(state[4].cast<py::array>());
  seen.track = column_from<std::int32_t>(state[5].cast<py::array>());
  seen.platform = column_from<std::uint8_t>(state[6].cast<py::array>());
  seen.platform_names = state[7].cast<std::vector<std::string>>();
  const auto value = state[8].cast<std::array<std::string, 4>>();
  data.value = {value[0], value[1], value[2], value[3]};
  data.layout = static_cast<drift::DataLayout>(state[9].cast<int>());
  data.on_plane = state[10].cast<bool>();
  data.plane_unit = state[11].cast<std::string>();
  data.calendar_time = state[12].cast<bool>();
  data.tracks_from = state[13].cast<std::string>();
  data.tracks = state[14].cast<std::size_t>();
  data.test = state[15].cast<std::vector<std::size_t>>();
  data.provenance = state[16].cast<std::string>();
  dataset.read = drift::run_settings_from_toml(state[17].cast<std::string>(), "pickled dataset");
  dataset.report = report_from_state(state[18]);
  return dataset;
}

// By role, as the library finds them in a table's header, with its warnings; roles without a column are left out.
std::pair<std::map<std::string, std::string>, std::vector<std::string>> roles_of_columns(
    const std::vector<std::string>& columns, std::map<std::string, std::string> given,
    const std::vector<std::string>& first_row) {
  const drift::ColumnRoles found = drift::roles_of_columns("the table", columns,
                                                           {.lon = given["lon"],
                                                            .lat = given["lat"],
                                                            .x = given["x"],
                                                            .y = given["y"],
                                                            .time = given["time"],
                                                            .value = given["value"],
                                                            .sigma = given["sigma"],
                                                            .track = given["track"],
                                                            .platform = given["platform"]},
                                                           first_row);
  return {named(found.roles), found.warnings};
}

template <auto Column>
py::object column(const py::object& self) {
  return view_of(self.cast<const PyDataset&>().data.observations.*Column, self);
}

}  // namespace

void bind_dataset(py::module_& module) {
  using drift::Observations;
  py::class_<JobOptions>(module, "Job")
      .def(py::init([](py::object progress, py::object say, const std::string& checkpoint, bool fresh, int threads) {
             return JobOptions{std::move(progress), std::move(say), checkpoint, fresh, threads};
           }),
           py::arg("progress") = py::none(), py::arg("say") = py::none(), py::arg("checkpoint") = "", py::arg("fresh") = false,
           py::arg("threads") = 0);

  py::class_<PyDataset>(module, "Dataset")
      .def("__len__", [](const PyDataset& dataset) { return dataset.data.observations.size(); })
      .def_property_readonly("lon", &column<&Observations::lon_deg>)
      .def_property_readonly("lat", &column<&Observations::lat_deg>)
      .def_property_readonly("time_days", &column<&Observations::time_days>)
      .def_property_readonly("value", &column<&Observations::value>)
      .def_property_readonly("sigma", &column<&Observations::sigma>)
      .def_property_readonly("track", &column<&Observations::track>)
      .def_property_readonly("platform", &column<&Observations::platform>)
      .def_property_readonly("platform_names", [](const PyDataset& dataset) { return dataset.data.observations.platform_names; })
      .def_property_readonly("name", [](const PyDataset& dataset) { return dataset.data.value.name; })
      .def_property_readonly("long_name", [](const PyDataset& dataset) { return dataset.data.value.long_name; })
      .def_property_readonly("standard_name", [](const PyDataset& dataset) { return dataset.data.value.standard_name; })
      .def_property_readonly("unit", [](const PyDataset& dataset) { return dataset.data.value.unit; })
      .def_property_readonly("on_plane", [](const PyDataset& dataset) { return dataset.data.on_plane; })
      .def_property_readonly("plane_unit", [](const PyDataset& dataset) { return dataset.data.plane_unit; })
      .def_property_readonly("calendar_time", [](const PyDataset& dataset) { return dataset.data.calendar_time; })
      .def_property_readonly("tracks", [](const PyDataset& dataset) { return dataset.data.tracks; })
      .def_property_readonly("tracks_from", [](const PyDataset& dataset) { return dataset.data.tracks_from; })
      .def_property_readonly("test", [](const PyDataset& dataset) { return array_from(dataset.data.test); })
      .def_property_readonly("settings", [](const PyDataset& dataset) { return dataset.read; })
      .def("with_test",
           [](const PyDataset& training, const PyDataset& test) {
             const py::gil_scoped_release released;
             return changed(training, drift::with_test(training.data, test.data));
           })
      .def("with_test_platforms",
           [](const PyDataset& training, const std::vector<std::string>& platforms) {
             const py::gil_scoped_release released;
             return changed(training, drift::with_test_platforms(training.data, platforms));
           })
      .def("summary", &summary_of)
      .def("report", &report_of)
      .def("save",
           [](const PyDataset& dataset, const std::string& path) {
             const py::gil_scoped_release released;
             drift::write_track_file(path, dataset.data.observations, dataset.data.value,
                                     {.calendar_time = dataset.data.calendar_time,
                                      .on_plane = dataset.data.on_plane,
                                      .plane_unit = dataset.data.plane_unit});
           })
      .def(py::pickle(&state_of, &dataset_of));

  module.def("dataset_from", &dataset_from, py::arg("columns"), py::arg("platform_names"), py::arg("value"), py::arg("on_plane"),
             py::arg("plane_unit"), py::arg("calendar_time"), py::arg("track_gap_s"), py::arg("provenance"), py::arg("words"));
  module.def("roles_of_columns", &roles_of_columns);
  module.def("simulate_defaults", [] {
    const drift::SimulateOptions usual = drift::simulate_defaults();
    py::dict out;
    out["platforms"] = usual.platforms;
    out["start"] = drift::iso_time(usual.start_days).substr(0, 10);
    out["days"] = usual.days;
    out["rate_hz"] = usual.rate_hz;
    out["noise_sd"] = usual.noise_sd;
    out["outlier_share"] = usual.outlier_share;
    out["outlier_sd"] = usual.outlier_sd;
    out["seed"] = usual.seed;
    return out;
  });
  module.def("read", &read_files, py::arg("settings"), py::arg("job"));
  module.def(
      "simulate",
      [](const std::string& truth, const std::vector<std::string>& platforms, double start_days, double days,
         const std::optional<std::array<double, 4>>& box, std::optional<std::size_t> observations, double rate_hz,
         double noise_sd, double outlier_share, double outlier_sd, std::uint64_t seed, int threads, const JobOptions& options) {
        drift::SimulateOptions chosen = drift::simulate_defaults();
        chosen.platforms = platforms;
        chosen.start_days = start_days;
        chosen.days = days;
        chosen.box = box;
        chosen.rate_hz = rate_hz;
        chosen.noise_sd = noise_sd;
        chosen.outlier_share = outlier_share;
        chosen.outlier_sd = outlier_sd;
        chosen.seed = seed;
        chosen.threads = threads;
        if (observations) chosen.rate_hz = drift::rate_for(*observations, chosen);
        return simulate(truth, chosen, options);
      },
      py::arg("truth"), py::arg("platforms"), py::arg("start_days"), py::arg("days"), py::arg("box"), py::arg("observations"),
      py::arg("rate_hz"), py::arg("noise_sd"), py::arg("outlier_share"), py::arg("outlier_sd"), py::arg("seed"),
      py::arg("threads"), py::arg("job"));
}
