#pragma once

// NumPy's arrays and drift's columns.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

// Entries of this type that lie one behind the other, each at a multiple of its size: C++ may read them where they are. Those of
// numpy.frombuffer(..., offset=1) may not.
inline constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_, kStraight = kAligned | py::array::c_style;
template <class Number>
bool is_straight(const py::array& array) {
  return (array.flags() & kStraight) == kStraight && py::isinstance<py::array_t<Number>>(array);
}

// A column of drift's own from a one-dimensional array of numbers, in one pass: float32 and float64 that lie straight are read
// where they are, read-only ones too.
template <class Number>
std::vector<Number> column_from(const py::array& array) {
  const auto straight = [&]<class Entry>(Entry) {
    const auto* const first = static_cast<const Entry*>(array.data());
    return std::vector<Number>(first, first + array.size());
  };
  if (is_straight<double>(array)) return straight(double());
  if (is_straight<float>(array)) return straight(float());
  const auto converted = py::array_t<Number, kStraight | py::array::forcecast>::ensure(array);
  if (!converted) throw py::error_already_set();
  return {converted.data(), converted.data() + converted.size()};
}

// Positions and times as the library reads them: no copy of what lies straight. The array must outlive the span.
template <class Number>
using Straight = py::array_t<Number, kStraight | py::array::forcecast>;
using Positions = Straight<double>;
template <class Number>
std::span<const Number> span_of(const Straight<Number>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// The vector's memory becomes the array's: no copy.
template <class Number>
py::array array_from(std::vector<Number> column, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(column.size())};
  auto kept = std::make_unique<std::vector<Number>>(std::move(column));
  const Number* const first = kept->data();
  const py::capsule owner(kept.release(), [](void* vector) { delete static_cast<std::vector<Number>*>(vector); });
  return py::array_t<Number>(std::move(shape), first, owner);
}

// A read-only view of a column that lives in `owner`, which the array keeps alive. None: the data have no such column.
template <class Number>
py::object view_of(const std::vector<Number>& column, const py::object& owner) {
  if (column.empty()) return py::none();
  py::array_t<Number> view({static_cast<py::ssize_t>(column.size())}, column.data(), owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}
