#include "engine/cuda/gemm.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"
#include "engine/cuda/cuda_testing.h"

namespace drift::cuda {
namespace {

// Relative errors of sums of products of numbers with 10 and 7 bits behind the point, and of float32's own.
double tolerance(Precision precision) {
  return precision == Precision::float32 ? 2e-6 : precision == Precision::tf32 ? 5e-4 : 4e-3;
}

struct Shape {
  int m, n, k;
};

struct Product {
  Shape shape;
  bool transpose_a, transpose_b, square;
  std::size_t members = 3, pad = 3;
  std::vector<float> a, b, c;
  std::size_t a_rows, a_cols, b_rows, b_cols;

  Product(Shape s, bool ta, bool tb, bool sq) : shape(s), transpose_a(ta), transpose_b(tb), square(sq) {
    a_rows = static_cast<std::size_t>(ta ? s.k : s.m), a_cols = static_cast<std::size_t>(ta ? s.m : s.k);
    b_rows = static_cast<std::size_t>(tb ? s.n : s.k), b_cols = static_cast<std::size_t>(tb ? s.k : s.n);
    RandomStream stream({.seed = 3});
    a.resize(members * a_rows * a_cols);
    b.resize(members * b_rows * b_cols);
    c.resize(members * static_cast<std::size_t>(s.m) * (static_cast<std::size_t>(s.n) + pad));
    for (auto* list : {&a, &b, &c}) {
      for (float& x : *list) x = static_cast<float>(stream.normal());
    }
  }
  double entry(std::size_t z, std::size_t row, std::size_t col) const {
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.k); ++k) {
      const double x = a[z * a_rows * a_cols + (transpose_a ? k * a_cols + row : row * a_cols + k)];
      const double y = b[z * b_rows * b_cols + (transpose_b ? col * b_cols + k : k * b_cols + col)];
      sum += (square ? x * x : x) * y;
    }
    return sum;
  }
};

double error_of(const Product& p, Precision precision) {
  const Stream stream;
  DeviceArray<float> a(p.a.size()), b(p.b.size()), c(p.c.size());
  a.upload(p.a, stream);
  b.upload(p.b, stream);
  c.upload(p.c, stream);
  const std::size_t m = static_cast<std::size_t>(p.shape.m), n = static_cast<std::size_t>(p.shape.n), stride = n + p.pad;
  gemm({.precision = precision,
        .transpose_a = p.transpose_a,
        .transpose_b = p.transpose_b,
        .members = static_cast<int>(p.members),
        .m = p.shape.m,
        .n = p.shape.n,
        .k = p.shape.k,
        .alpha = 0.5F,
        .a = {a.data(), p.a_cols, p.a_rows * p.a_cols},
        .square_a = p.square,
        .b = {b.data(), p.b_cols, p.b_rows * p.b_cols},
        .beta = 2.0F,
        .c = {c.data(), stride, m * stride}},
       stream.get());
  std::vector<float> result(p.c.size());
  c.download(result.data(), result.size(), 0, stream);
  double difference = 0, length = 0;
  for (std::size_t z = 0; z < p.members; ++z) {
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t col = 0; col < stride; ++col) {
        const std::size_t at = (z * m + row) * stride + col;
        if (col >= n) {
          EXPECT_EQ(result[at], p.c[at]) << "beyond the matrix";
          continue;
        }
        const double wanted = 0.5 * p.entry(z, row, col) + 2.0 * p.c[at];
        difference += std::pow(result[at] - wanted, 2);
        length += wanted * wanted;
      }
    }
  }
  return std::sqrt(difference / length);
}

TEST(Gemm, IsTheProductForEveryShapeTranspositionAndPrecision) {
  DRIFT_NEEDS_GPU();
  for (const Shape shape :
       {Shape{64, 128, 32}, Shape{70, 129, 33}, Shape{1, 1, 1}, Shape{256, 12, 75}, Shape{37, 1, 256}, Shape{130, 260, 7}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        for (const Precision precision : {Precision::float32, Precision::tf32, Precision::bf16}) {
          EXPECT_LT(error_of(Product(shape, ta, tb, false), precision), tolerance(precision))
              << shape.m << " " << shape.n << " " << shape.k << " " << ta << tb;
        }
      }
    }
  }
}

TEST(Gemm, SquaresItsFirstFactor) {
  DRIFT_NEEDS_GPU();
  EXPECT_LT(error_of(Product({70, 40, 90}, true, false, true), Precision::float32), tolerance(Precision::float32));
}

TEST(Gemm, InTf32IsNotFloat32) {
  DRIFT_NEEDS_GPU();
  EXPECT_GT(error_of(Product({64, 128, 512}, false, false, false), Precision::tf32), 20 * tolerance(Precision::float32));
}

}  // namespace
}  // namespace drift::cuda
