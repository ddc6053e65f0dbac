#pragma once

#include <cstddef>
#include <type_traits>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// A row-major matrix that somebody else owns. `stride` is the distance between rows, in elements.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  MatrixView() = default;
  MatrixView(T* elements, std::size_t row_count, std::size_t col_count) : MatrixView(elements, row_count, col_count, col_count) {}
  MatrixView(T* elements, std::size_t row_count, std::size_t col_count, std::size_t row_stride)
      : data(elements), rows(row_count), cols(col_count), stride(row_stride) {}
  // A view of mutable elements converts to a view of constant ones.
  template <class U>
  requires(std::is_same_v<const U, T>)
      MatrixView(const MatrixView<U>& other)  // NOLINT(google-explicit-constructor): a harmless widening
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  T& operator()(std::size_t row, std::size_t col) const { return data[row * stride + col]; }
  T* row(std::size_t index) const { return data + index * stride; }
  bool empty() const { return rows == 0 || cols == 0; }
  MatrixView middle_cols(std::size_t first, std::size_t count) const { return {data + first, rows, count, stride}; }
  MatrixView middle_rows(std::size_t first, std::size_t count) const { return {row(first), count, cols, stride}; }
};

}  // namespace drift
