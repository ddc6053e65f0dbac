#include "drift/read_arrays.h"

#include <pybind11/stl.h>

#include <variant>

#include "arrays.h"
#include "bindings.h"

namespace {

using Attributes = std::map<std::string, std::variant<std::string, std::vector<std::int64_t>, std::vector<double>>>;
using Variable = std::tuple<std::string, std::vector<std::string>, std::string, Attributes, py::function>;

drift::ArrayAttributes attributes_from(const Attributes& attributes) {
  drift::ArrayAttributes out;
  for (const auto& [name, value] : attributes) {
    if (const auto* const text = std::get_if<std::string>(&value))
      out[name].text = *text;
    else if (const auto* const whole = std::get_if<std::vector<std::int64_t>>(&value))
      out[name] = {.text = {}, .numbers = {whole->begin(), whole->end()}, .whole_numbers = true};
    else
      out[name].numbers = std::get<std::vector<double>>(value);
  }
  return out;
}

// The callbacks run without the interpreter's lock: they take it, and never touch a reference before.
drift::ArrayVariable variable_from(const Variable& variable) {
  const auto& [name, dimensions, type, attributes, load] = variable;
  return {.name = name,
          .dimensions = dimensions,
          .type = type,
          .attributes = attributes_from(attributes),
          .numbers =
              [load = load] {
                const py::gil_scoped_acquire acquired;
                return column_from<double>(load().cast<py::array>());
              },
          .texts =
              [load = load] {
                const py::gil_scoped_acquire acquired;
                return load().cast<std::vector<std::string>>();
              }};
}

drift::ArrayFile arrays_from(const std::string& called, const std::map<std::string, std::size_t>& lengths,
                             const std::vector<Variable>& variables, const Attributes& attributes) {
  drift::ArrayFile arrays = {.name = called, .lengths = lengths, .variables = {}, .attributes = attributes_from(attributes)};
  for (const Variable& variable : variables) arrays.variables.push_back(variable_from(variable));
  return arrays;
}

// name, plane_unit: in place of what the arrays say, unless empty.
PyDataset read_arrays(const std::string& called, const std::map<std::string, std::size_t>& lengths,
                      const std::vector<Variable>& variables, const Attributes& attributes, const drift::RunSettings& settings,
                      const std::string& name, const std::string& plane_unit, const JobOptions& options) {
  const drift::ArrayFile arrays = arrays_from(called, lengths, variables, attributes);
  const drift::ReadOptions read = drift::read_options(settings);
  drift::Reading reading = job(options, [&](const drift::Control& control) { return drift::read_arrays(arrays, read, control); });
  if (!name.empty()) reading.value.name = name;
  if (reading.on_plane && !plane_unit.empty()) reading.plane_unit = plane_unit;
  PyDataset dataset = {.data = {}, .read = {}, .report = std::move(reading.report)};
  dataset.data = std::move(static_cast<drift::Dataset&>(reading));
  return dataset;
}

}  // namespace

void bind_read_arrays(py::module_& module) {
  module.def("read_arrays", &read_arrays, py::arg("called"), py::arg("lengths"), py::arg("variables"), py::arg("attributes"),
             py::arg("settings"), py::arg("name"), py::arg("plane_unit"), py::arg("job"));
  py::class_<drift::Grid>(module, "Grid");
  module.def(
      "grid_from_arrays",
      [](const std::string& called, const std::map<std::string, std::size_t>& lengths, const std::vector<Variable>& variables,
         const Attributes& attributes) { return drift::grid_from_arrays(arrays_from(called, lengths, variables, attributes)); },
      py::arg("called"), py::arg("lengths"), py::arg("variables"), py::arg("attributes"));
}
