#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/kernels.h"

namespace drift::cpu {
namespace {

// Made-up signs, lengths and inputs.
template <class Real>
struct Problem {
  std::size_t rows = 5, hidden, n, features, stride;
  std::vector<Real> signs, lengths, u, phase_gradient;

  Problem(std::size_t hidden_entries, std::size_t size, std::size_t feature_count)
      : hidden(hidden_entries), n(size), features(feature_count), stride(feature_count + 3) {
    const std::size_t blocks = (features + n - 1) / n;
    for (std::size_t i = 0; i < 3 * blocks * n; ++i)
      signs.push_back(std::sin(12.9898 * static_cast<double>(i + 1)) > 0 ? Real(1) : Real(-1));
    for (std::size_t i = 0; i < blocks * n; ++i)
      lengths.push_back(static_cast<Real>((1.5 + std::sin(static_cast<double>(i))) * std::pow(n, -1.5)));
    for (std::size_t i = 0; i < rows * hidden; ++i) u.push_back(static_cast<Real>(std::cos(0.7 * static_cast<double>(i))));
    for (std::size_t i = 0; i < rows * stride; ++i)
      phase_gradient.push_back(static_cast<Real>(std::sin(0.3 * static_cast<double>(i))));
  }
  HadamardBlock<Real> block() const {
    return {.rows = rows,
            .hidden = hidden,
            .features = features,
            .n = n,
            .signs = signs.data(),
            .lengths = lengths.data(),
            .stride = stride};
  }
  std::vector<Real> phase() const {
    std::vector<Real> out(rows * stride, Real(7));
    hadamard_phase(block(), u.data(), out.data());
    return out;
  }
  std::vector<Real> gradient() const {
    std::vector<Real> out(rows * hidden, Real(7));
    hadamard_gradient(block(), phase_gradient.data(), out.data());
    return out;
  }
};

struct Shape {
  std::size_t hidden, n, features;
};
const std::vector<Shape> kShapes = {{1, 1, 3},       {3, 4, 10},      {5, 8, 8},          {16, 16, 40},
                                    {32, 32, 33},    {50, 64, 100},   {64, 64, 200},      {128, 128, 1000},
                                    {100, 128, 130}, {256, 256, 600}, {1000, 1024, 1500}, {4096, 4096, 5000}};

TEST(Hadamard, PhaseInDoubleIsTheProductWrittenOut) {
  const Problem<double> problem(5, 8, 11);
  const auto phase = problem.phase();
  const auto h = [](std::size_t i, std::size_t j) { return __builtin_popcountll(i & j) % 2 == 0 ? 1.0 : -1.0; };
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t feature = 0; feature < 11; ++feature) {
      const double* signs = &problem.signs[3 * 8 * (feature / 8)];
      double sum = 0;
      for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = 0; b < 8; ++b) {
          for (std::size_t c = 0; c < 5; ++c) {
            sum += h(feature % 8, a) * signs[16 + a] * h(a, b) * signs[8 + b] * h(b, c) * signs[c] * problem.u[row * 5 + c];
          }
        }
      }
      EXPECT_NEAR(phase[row * problem.stride + feature], sum * problem.lengths[feature], 1e-12);
    }
    for (std::size_t pad = 11; pad < problem.stride; ++pad)
      EXPECT_EQ(phase[row * problem.stride + pad], 7) << "wrote beyond its features";
  }
}

TEST(Hadamard, GradientInDoubleIsTheTransposeOfThePhase) {
  for (const Shape& shape : kShapes) {
    const Problem<double> problem(shape.hidden, shape.n, shape.features);
    const auto phase = problem.phase(), gradient = problem.gradient();
    for (std::size_t row = 0; row < problem.rows; ++row) {
      double forward = 0, backward = 0;
      for (std::size_t i = 0; i < shape.features; ++i)
        forward += phase[row * problem.stride + i] * problem.phase_gradient[row * problem.stride + i];
      for (std::size_t i = 0; i < shape.hidden; ++i)
        backward += gradient[row * shape.hidden + i] * problem.u[row * shape.hidden + i];
      EXPECT_NEAR(forward, backward, 1e-9 * (1 + std::abs(forward)));
    }
  }
}

TEST(Hadamard, FloatAgreesWithDoubleOnEveryInstructionSet) {
  for (const Shape& shape : kShapes) {
    const Problem<double> exact(shape.hidden, shape.n, shape.features);
    const auto phase = exact.phase(), gradient = exact.gradient();
    for_every_instruction_set([&] {
      const Problem<float> problem(shape.hidden, shape.n, shape.features);
      const auto float_phase = problem.phase(), float_gradient = problem.gradient();
      // Three transforms of log2(n) additions each, on rows of length near one.
      for (std::size_t i = 0; i < phase.size(); ++i) ASSERT_NEAR(float_phase[i], phase[i], 3e-6) << shape.n;
      const double size = std::sqrt(static_cast<double>(shape.features));
      for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(float_gradient[i], gradient[i], 3e-6 * size) << shape.n;
    });
  }
}

}  // namespace
}  // namespace drift::cpu
