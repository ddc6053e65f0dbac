#pragma once

// What the parts of the module share. Python's own face is python/drift; names here are its private affair.

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "drift/drift.h"
#include "job.h"

namespace py = pybind11;

// Observations, with the settings that they were read by, which travel into a model as those of a run of the command do.
struct PyDataset {
  drift::Dataset data;
  drift::RunSettings read = {};
  std::optional<drift::ReadReport> report = {};
};

// Which points lie far from a model's observations. What that takes is made once, since it takes longer than a prediction at a
// few points.
class FarSearch {
 public:
  template <class Number>
  drift::FarPoints operator()(const drift::FieldModel& model, std::span<const Number> lon, std::span<const Number> lat) {
    std::call_once(made_, [&] { counter_.emplace(model); });
    drift::FarCounter counter = *counter_;
    counter.add(lon, lat);
    return counter.result();
  }

 private:
  std::once_flag made_;
  std::optional<drift::FarCounter> counter_;
};

// A model that nothing changes any more: any number of threads may predict with it.
struct PyModel {
  std::shared_ptr<const drift::FieldModel> model;
  std::shared_ptr<FarSearch> far = std::make_shared<FarSearch>();
};

// A message of the library's with keywords in place of the command's flags: --held-out is held_out.
std::string with_keywords(const std::string& text);

// An engine for as long as the process lasts: making one takes longer than a prediction at a few points.
drift::Engine& engine_for(const std::string& backend, int threads);

void bind_settings(py::module_& module);
void bind_dataset(py::module_& module);
void bind_read_arrays(py::module_& module);
void bind_model(py::module_& module);
void bind_predict(py::module_& module);
void bind_compare(py::module_& module);
