#include <pybind11/stl.h>

#include "bindings.h"

namespace {

const char* name_of(drift::SettingType type) {
  switch (type) {
    case drift::SettingType::text:
      return "text";
    case drift::SettingType::word:
      return "word";
    case drift::SettingType::number:
      return "number";
    case drift::SettingType::whole_number:
      return "whole number";
    case drift::SettingType::truth:
      return "truth";
    case drift::SettingType::range:
      return "range";
    case drift::SettingType::box:
      return "box";
  }
  return "text";
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return drift::did_you_mean(name, views);
}

double parse_time(const std::string& text) {
  double days = 0.0;
  if (drift::parse_iso_time(text, days)) return days;
  throw drift::UsageError("time '" + text + "': must be a time such as 2020-03-01 or 2020-03-01T06:00");
}

}  // namespace

void bind_settings(py::module_& module) {
  py::class_<drift::SettingInfo>(module, "SettingInfo")
      .def_readonly("table", &drift::SettingInfo::table)
      .def_readonly("key", &drift::SettingInfo::key)
      .def_readonly("flag", &drift::SettingInfo::flag)
      .def_readonly("help", &drift::SettingInfo::help)
      .def_readonly("fallback", &drift::SettingInfo::fallback)
      .def_readonly("repeats", &drift::SettingInfo::repeats)
      .def_readonly("words", &drift::SettingInfo::words)
      .def_property_readonly("type", [](const drift::SettingInfo& info) { return name_of(info.type); });
  module.def("setting_infos", &drift::setting_infos);
  module.def(
      "settings_of_verb", [](const std::string& verb) { return drift::settings_of_verb(verb); }, py::arg("verb"));

  py::class_<drift::RunSettings>(module, "Settings")
      .def(py::init<>())
      .def(py::init<const drift::RunSettings&>())
      .def(
          "set",
          [](drift::RunSettings& settings, const drift::SettingInfo& info, const std::vector<std::string>& texts,
             const std::string& called) { drift::set_from_flag(settings, info.flag, texts, info.table, called); },
          py::arg("info"), py::arg("texts"), py::arg("called"))
      .def("set_files",
           [](drift::RunSettings& settings, std::vector<std::string> files) { settings.data.files = std::move(files); })
      .def("set_folder", [](drift::RunSettings& settings, std::string folder) { settings.compare.folder = std::move(folder); })
      .def("check", [](const drift::RunSettings& settings) { drift::check(settings); })
      .def("to_toml", &drift::to_toml);
  module.def("did_you_mean", &did_you_mean);
  module.def("standard_name_problem", &drift::standard_name_problem, py::arg("name"));
  module.def("parse_time", &parse_time);
  module.def("iso_time", &drift::iso_time);
}
