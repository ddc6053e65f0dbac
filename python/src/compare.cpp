#include "drift/compare.h"

#include <pybind11/stl.h>

#include "bindings.h"

namespace {

// Every fit in this process: its memory is the whole process's.
std::string compare(const PyDataset& dataset, const drift::RunSettings& settings, const JobOptions& options) {
  const drift::Comparison comparison = job(options, [&](const drift::Control& control) {
    const drift::ComparePlan plan = drift::plan_compare(settings, dataset.data, drift::make_compared_method, control);
    for (const std::string& choice : plan.choices) control.tell(choice);
    // The command can make the same comparison where the observations are files.
    if (!plan.folder.empty() && !settings.data.files.empty()) drift::save_compare_run(plan);
    return drift::compare(plan, dataset.data, control,
                          {.done = [&](const drift::ComparedFit& fit, bool, const drift::Comparison&) {
                            if (!fit.failure.empty()) control.tell(fit.method + " failed: " + fit.failure);
                          }});
  });
  return drift::comparison_json(comparison);
}

}  // namespace

void bind_compare(py::module_& module) {
  module.def("compare", &compare, py::arg("dataset"), py::arg("settings"), py::arg("job"));
  module.def("compare_methods", [] {
    py::list out;
    for (const drift::MethodInfo& method : drift::compare_methods()) {
      py::dict options;
      for (const drift::MethodOption& option : method.options)
        options[py::str(option.name)] = option.help + " [" + option.fallback + "]";
      out.append(py::make_tuple(method.name, method.title, method.summary + " (" + method.source + ")", options));
    }
    return out;
  });
}
