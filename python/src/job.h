#pragma once

// Long work beside the interpreter.

#include <pybind11/pybind11.h>

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"

namespace py = pybind11;

// What a caller in Python says of a job.
struct JobOptions {
  py::object progress = py::none();  // called with (share, what); None: nothing
  py::object say = py::none();       // called with a sentence
  std::filesystem::path checkpoint = {};
  bool fresh = false;
  int threads = 0;
};

// Runs the work on a thread of its own, without the interpreter's lock, while the calling thread waits, hands progress and
// sentences to Python and listens for signals. ctrl-C, or an exception of a callback, asks the work to stop and is raised when it
// has: KeyboardInterrupt then carries the library's sentence on what was kept, or why it could not be. Work that had ended by
// then keeps its result, and the interrupt becomes a warning. The work never touches Python.
void run_job(const JobOptions& options, const std::function<void(const drift::Control&)>& work);

// The same, with a result.
template <class Work>
auto job(const JobOptions& options, Work&& work) {
  std::optional<decltype(work(drift::Control()))> result;
  run_job(options, [&](const drift::Control& control) { result.emplace(work(control)); });
  return std::move(*result);
}
