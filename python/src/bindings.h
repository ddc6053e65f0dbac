#pragma once

// What the parts of the module share. Python's own face is python/drift; names here are its private affair.

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <optional>
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

// A model that nothing changes any more: any number of threads may predict with it.
struct PyModel {
  std::shared_ptr<const drift::FieldModel> model;
};

// An engine for as long as the process lasts: making one takes longer than a prediction at a few points.
drift::Engine& engine_for(const std::string& backend, int threads);

void bind_settings(py::module_& module);
void bind_dataset(py::module_& module);
void bind_model(py::module_& module);
void bind_predict(py::module_& module);
void bind_compare(py::module_& module);
