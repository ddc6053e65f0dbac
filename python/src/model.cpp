#include <pybind11/stl.h>

#include "arrays.h"
#include "bindings.h"

namespace {

// The model, and what a fit knows besides it: a model's file has only the model.
py::tuple fit(const PyDataset& dataset, const drift::RunSettings& settings, const JobOptions& options) {
  std::vector<std::string> choices;
  const drift::FittedRun run = job(options, [&](const drift::Control& control) {
    return drift::run_fit(settings, dataset.data, control, {.planned = [&](const drift::FitPlan& plan) {
                            choices = plan.choices;
                            for (const std::string& choice : choices) control.tell(choice);
                          }});
  });
  const drift::FitResult& result = run.result;
  py::dict report;
  report["choices"] = choices;
  report["training_observations"] = run.plan.split.training.size();
  report["held_out_observations"] = run.plan.split.held_out.size();
  report["test_observations"] = run.plan.test.size();
  report["out_of_fold"] = run.plan.out_of_fold;
  report["calibration_observations"] = result.calibrated_on;
  report["scores_also_calibrated"] = result.scores_calibrated;
  report["steps"] = result.steps;
  report["train_s"] = result.train_s;
  if (result.worth) {
    py::dict parts;
    parts["process_weight"] = result.worth->process_weight;
    parts["network_rmse"] = result.worth->network_rmse;
    parts["process_rmse"] = result.worth->process_rmse;
    parts["blend_rmse"] = result.worth->blend_rmse;
    report["parts"] = parts;
  }
  if (result.baseline) {
    py::dict baseline;
    baseline["method"] = "inverse_distance";
    baseline["rmse"] = result.baseline->rmse;
    baseline["model_rmse"] = result.baseline->model_rmse;
    baseline["observations"] = result.baseline->count;
    report["baseline"] = baseline;
  }
  report["warnings"] = result.warnings;
  return py::make_tuple(PyModel{std::make_shared<const drift::FieldModel>(result.model)}, report);
}

py::list plan(const PyDataset& dataset, const drift::RunSettings& settings, const JobOptions& options) {
  const drift::FitPlan planned = job(options, [&](const drift::Control& control) {
    return drift::plan_fit(settings, dataset.data, drift::Judging::automatic, control);
  });
  return py::cast(planned.choices);
}

std::string method_of(const drift::FieldModel& model) {
  if (model.method) return model.method_text;
  if (!model.process) return "network";
  return model.ensemble.members.empty() ? "process" : "blend";
}

py::dict process_of(const drift::ProcessInfo& info) {
  py::dict out;
  out["nu"] = info.nu;
  out["lengthscale_x"] = info.lengthscale_x;
  out["lengthscale_y"] = info.lengthscale_y;
  out["shear"] = info.shear;
  out["second_share"] = info.second_share;
  out["second_length"] = info.second_length;
  out["second_time_days"] = info.second_time_days;
  if (info.time_lengthscale_days > 0.0) {
    out["time_lengthscale_days"] = info.time_lengthscale_days;
    out["velocity_x_per_day"] = info.velocity_x;
    out["velocity_y_per_day"] = info.velocity_y;
  }
  out["field_sd"] = info.field_sd;
  out["noise_sd"] = info.noise_sd;
  out["track_sd"] = info.track_sd;
  out["platform_sd"] = info.platform_sd;
  return out;
}

// What the model itself says of its field, its parts and its observations.
py::dict findings(const PyModel& self) {
  const drift::FieldModel& model = *self.model;
  const drift::FieldInfo& info = model.info;
  py::dict out;
  out["method"] = method_of(model);
  out["variable"] = info.value.name;
  out["unit"] = info.value.unit;
  out["observations"] = info.training;
  out["extent"] = info.extent;
  if (info.has_time) out["time_days"] = py::make_tuple(info.first_time_days, info.last_time_days);
  out["calendar_time"] = info.calendar_time;
  constexpr std::array<const char*, 3> kDomains = {"sphere", "plane", "xy"};
  out["domain"] = kDomains.at(static_cast<std::size_t>(model.domain.kind));
  out["crs"] = model.domain.crs;
  out["length_unit"] = model.domain.unit;
  out["members"] = model.ensemble.members.size();
  out["noise_sd"] = info.noise_sd;
  out["spread_scale"] = info.spread_scale;
  if (info.is_conformal()) {
    py::dict widths;
    constexpr std::array<const char*, 5> kLevels = {"50", "80", "90", "95", "99"};
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      if (info.conformal.at(i) > 0.0) widths[kLevels.at(i)] = info.conformal.at(i);
    }
    out["conformal_half_widths"] = widths;
  }
  if (const auto process = drift::process_info(model)) {
    out["process_weight"] = model.ensemble.members.empty() ? 1.0 : model.weight.process;
    out["process"] = process_of(*process);
  }
  if (model.method) {
    py::dict found;
    for (const auto& [name, text] : model.method->findings(model.domain)) found[py::str(name)] = text;
    out["found"] = found;
  }
  return out;
}

// [(name, scores, share that trained)], all first, and warnings
py::tuple score(const PyModel& self, const PyDataset& dataset, const std::string& by, const std::string& backend,
                const JobOptions& options) {
  const drift::FieldModel& model = *self.model;
  const auto groups = drift::enum_named<drift::ScoreGroups>("by", by);
  const drift::ModelScores scores = job(options, [&](const drift::Control& control) {
    return drift::score_model(engine_for(backend, options.threads), model, dataset.data, groups, control);
  });
  py::list out;
  out.append(py::make_tuple("", drift::to_json(scores.all), scores.trained_share));
  for (const auto& [name, its] : scores.groups) out.append(py::make_tuple(name, drift::to_json(its), py::none()));
  return py::make_tuple(
      out, py::make_tuple(scores.all.count, scores.far.count, scores.far.distance, scores.far.unreached, scores.furthest_days));
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<PyModel>(module, "Model")
      .def_property_readonly("settings", [](const PyModel& self) { return self.model->settings; })
      .def_property_readonly("scores", [](const PyModel& self) { return self.model->scores; })
      .def_property_readonly("name", [](const PyModel& self) { return self.model->info.value.name; })
      .def_property_readonly("unit", [](const PyModel& self) { return self.model->info.value.unit; })
      .def_property_readonly("long_name", [](const PyModel& self) { return self.model->info.value.long_name; })
      .def_property_readonly("has_time", [](const PyModel& self) { return self.model->info.has_time; })
      .def_property_readonly("has_spread", [](const PyModel& self) { return self.model->has_spread(); })
      .def_property_readonly("calendar_time", [](const PyModel& self) { return self.model->info.calendar_time; })
      .def_property_readonly("on_plane", [](const PyModel& self) { return self.model->domain.kind == drift::DomainKind::xy; })
      .def_property_readonly("length_unit", [](const PyModel& self) { return self.model->domain.unit; })
      .def("findings", &findings)
      .def("save", [](const PyModel& self, const std::string& path) {
        const py::gil_scoped_release released;
        drift::save_field_model(path, *self.model);
      });
  module.def("load", [](const std::string& path) {
    const py::gil_scoped_release released;
    return PyModel{std::make_shared<const drift::FieldModel>(drift::load_field_model(path))};
  });
  module.def("fit", &fit, py::arg("dataset"), py::arg("settings"), py::arg("job"));
  module.def("plan", &plan, py::arg("dataset"), py::arg("settings"), py::arg("job"));
  module.def("score", &score, py::arg("model"), py::arg("dataset"), py::arg("by"), py::arg("backend"), py::arg("job"));
  module.def("verify", [](const std::string& path) {
    drift::VerifiedFile file;
    {
      const py::gil_scoped_release released;
      file = drift::verify_file(path);
    }
    return py::make_tuple(file.kind, file.has_checksums, file.facts);
  });
  module.def("score_forecast", [](const Positions& y, const Positions& mean, const Positions& sd) {
    const py::gil_scoped_release released;
    return drift::to_json(drift::score_forecast(span_of<double>(y), span_of<double>(mean), span_of<double>(sd)));
  });
}
