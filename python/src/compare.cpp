#include "drift/compare.h"

#include <pybind11/stl.h>

#include "bindings.h"

namespace {

// Every fit in this process: its memory is the whole process's.
std::string compare(const PyDataset& dataset, const drift::RunSettings& settings, const JobOptions& options) {
  const drift::Comparison comparison = job(options, [&](const drift::Control& control) {
    const drift::ComparePlan plan = drift::plan_compare(settings, dataset.data);
    for (const std::string& choice : plan.choices) control.tell(choice);
    // The command can make the same comparison where the observations are files.
    if (!plan.folder.empty() && !settings.data.files.empty()) drift::save_compare_run(plan);
    const double all = static_cast<double>(plan.methods.size() * plan.seeds.size());
    double done = 0.0;
    drift::CompareControl its;
    its.stop = control.stop;
    its.fresh = control.fresh;
    its.progress = [&](const std::string& method, std::uint64_t seed, double share, const std::string& what) {
      control.report((done + share) / all, method + ", seed " + std::to_string(seed) + ": " + what);
    };
    its.done = [&](const drift::ComparedFit& fit, bool) {
      done += 1.0;
      if (!fit.failure.empty()) control.tell(fit.method + " failed: " + fit.failure);
    };
    drift::Comparison made = drift::compare(plan, dataset.data, its);
    if (!made.finished)
      throw drift::Stopped(plan.folder.empty() ? "stopped; nothing was kept, for want of a folder"
                                               : "stopped; the fits so far are in " + plan.folder.string());
    return made;
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
      out.append(py::make_tuple(method.name, method.title, method.summary, options));
    }
    return out;
  });
}
