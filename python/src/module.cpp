#include <algorithm>
#include <regex>
#include <string>

#include "bindings.h"
#include "drift/run_settings.h"
#include "drift/version.h"

std::string with_keywords(const std::string& text) {
  static const std::regex flag("--([a-z][a-z0-9-]*)");
  std::string out;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), flag), end; found != end; ++found) {
    const drift::SettingInfo* setting = nullptr;
    for (const drift::SettingInfo& info : drift::setting_infos()) {
      if (info.flag == found->str()) setting = &info;
    }
    out.append(rest, (*found)[0].first);
    std::string word = setting == nullptr ? found->str() : (*found)[1].str();
    if (setting != nullptr) std::replace(word.begin(), word.end(), '-', '_');
    out += word == "from" ? "from_" : word;  // a word of Python's
    rest = (*found)[0].second;
  }
  return out.append(rest, text.cend());
}

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
      PyErr_SetString(stopped, with_keywords(e.what()).c_str());
    } catch (const drift::UsageError& e) {
      PyErr_SetString(usage, with_keywords(e.what()).c_str());
    } catch (const drift::Error& e) {
      PyErr_SetString(error, with_keywords(e.what()).c_str());
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
  bind_read_arrays(module);
  bind_model(module);
  bind_predict(module);
  bind_compare(module);
}
