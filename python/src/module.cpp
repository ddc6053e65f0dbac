#include "bindings.h"
#include "drift/version.h"

namespace {

// drift.Error, drift.UsageError (a ValueError too) and drift.Stopped, by the library's exceptions. They are never freed: a
// translator may be asked while the interpreter ends.
void bind_errors(py::module_& module) {
  static PyObject* error = nullptr;  // NOLINT(*-non-const-global-variables): a translator has no state
  static PyObject* usage = nullptr;
  static PyObject* stopped = nullptr;
  error = PyErr_NewExceptionWithDoc("drift.Error",
                                    "An error that a user can act on; the message says what went wrong, where, and what to do.",
                                    nullptr, nullptr);
  const auto both = py::reinterpret_steal<py::object>(PyTuple_Pack(2, error, PyExc_ValueError));
  usage = PyErr_NewExceptionWithDoc("drift.UsageError", "An invalid request: a setting, a type, a shape.", both.ptr(), nullptr);
  stopped = PyErr_NewExceptionWithDoc("drift.Stopped", "The work was stopped; the message says what was saved.", error, nullptr);
  module.attr("Error") = py::handle(error);
  module.attr("UsageError") = py::handle(usage);
  module.attr("Stopped") = py::handle(stopped);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const drift::Stopped& e) {
      PyErr_SetString(stopped, e.what());
    } catch (const drift::UsageError& e) {
      PyErr_SetString(usage, e.what());
    } catch (const drift::Error& e) {
      PyErr_SetString(error, e.what());
    }
  });
}

}  // namespace

PYBIND11_MODULE(_drift, module) {
  module.doc() = "drift's library, as the package drift calls it";
  module.attr("__version__") = drift::version();
  bind_errors(module);
  bind_settings(module);
  bind_dataset(module);
  bind_model(module);
  bind_predict(module);
  bind_compare(module);
}
