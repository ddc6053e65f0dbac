// The double-precision versions of the element-wise work: plain loops, the reference for tests and for finite differences.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/cpu/kernels.h"

namespace drift::cpu {

void cosine_features(const CosineBlock<double>& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t feature = 0; feature < block.features; ++feature) {
      const std::size_t at = row * block.stride + feature;
      double phase = block.phases[feature];
      for (std::size_t i = 0; i < block.coordinate_count; ++i) {
        phase +=
            block.coordinates[row * block.coordinate_stride + i] * block.coordinate_frequencies[i * block.features + feature];
      }
      if (block.hidden_phase != nullptr) phase += block.hidden_phase[at];
      const double angle = 2 * std::numbers::pi * (phase - std::nearbyint(phase));
      block.feature[at] = block.amplitude * std::cos(angle);
      if (block.slope != nullptr) block.slope[at] = -2 * std::numbers::pi * block.amplitude * std::sin(angle);
    }
  }
}

namespace {

void transform(std::size_t n, double* x) {
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t first = 0; first < n; first += 2 * half) {
      for (std::size_t i = first; i < first + half; ++i) {
        const double a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
}

void scale(std::size_t n, const double* factor, double* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor[i];
}

}  // namespace

void hadamard_phase(const HadamardBlock<double>& block, const double* u, double* phase) {
  const std::size_t n = block.n;
  std::vector<double> x(n);
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t first = 0; first < block.features; first += n) {
      std::fill(x.begin(), x.end(), 0.0);
      std::copy_n(u + row * block.hidden, block.hidden, x.begin());
      for (std::size_t i = 0; i < 3; ++i) {
        scale(n, block.signs + 3 * first + i * n, x.data());
        transform(n, x.data());
      }
      scale(n, block.lengths + first, x.data());
      std::copy_n(x.begin(), std::min(n, block.features - first), phase + row * block.stride + first);
    }
  }
}

void hadamard_gradient(const HadamardBlock<double>& block, const double* phase_gradient, double* u_gradient) {
  const std::size_t n = block.n;
  std::vector<double> x(n);
  for (std::size_t row = 0; row < block.rows; ++row) {
    double* du = u_gradient + row * block.hidden;
    std::fill_n(du, block.hidden, 0.0);
    for (std::size_t first = 0; first < block.features; first += n) {
      std::fill(x.begin(), x.end(), 0.0);
      std::copy_n(phase_gradient + row * block.stride + first, std::min(n, block.features - first), x.begin());
      scale(n, block.lengths + first, x.data());
      for (std::size_t i = 3; i-- > 0;) {
        transform(n, x.data());
        scale(n, block.signs + 3 * first + i * n, x.data());
      }
      for (std::size_t i = 0; i < block.hidden; ++i) du[i] += x[i];
    }
  }
}

namespace {

// P_n(x) and P_n'(x) at x = s . b, with the difference s - b or s + b to the nearer of b and -b. The recurrence is that of
// legendre_kernels.cpp, run to the end for every degree.
struct LegendreValue {
  double value;
  double derivative;
  std::array<double, 3> difference;  // s - sign b
  double sign;                       // of x: P_n(x) = sign^n P_n(|x|)
};

LegendreValue legendre(const double* point, const LegendreBlock<double>& block, std::size_t feature) {
  double x = 0;
  for (std::size_t i = 0; i < 3; ++i) x += point[i] * block.poles[i * block.features + feature];
  LegendreValue result{};
  result.sign = x < 0 ? -1 : 1;
  double delta = 0;  // 1 - |x|
  for (std::size_t i = 0; i < 3; ++i) {
    result.difference[i] = point[i] - result.sign * block.poles[i * block.features + feature];
    delta += result.difference[i] * result.difference[i] / 2;
  }
  const auto degree = static_cast<int>(block.degrees[feature]);
  double value = 1;
  double sum = 0;
  for (int k = 0; k < degree; ++k) {
    sum += (2 * k + 1) * value;
    value -= delta / (k + 1) * sum;
  }
  const double parity = degree % 2 == 0 ? 1 : result.sign;
  result.value = parity * value;
  result.derivative = parity * result.sign * (sum + degree * value) / (2 - delta);
  return result;
}

}  // namespace

void legendre_features(const LegendreBlock<double>& block, double* feature, bool accumulate) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t m = 0; m < block.features; ++m) {
      const double value = block.scales[m] * legendre(block.points + row * block.point_stride, block, m).value;
      double& out = feature[row * block.stride + m];
      out = accumulate ? out + value : value;
    }
  }
}

void legendre_gradient(const LegendreBlock<double>& block, const double* feature_gradient, double* gradient,
                       std::size_t gradient_stride) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    const double* point = block.points + row * block.point_stride;
    std::array<double, 3> sum = {};
    for (std::size_t m = 0; m < block.features; ++m) {
      const LegendreValue p = legendre(point, block, m);
      const double factor = feature_gradient[row * block.stride + m] * block.scales[m] * p.derivative;
      for (std::size_t i = 0; i < 3; ++i) sum[i] -= factor * p.sign * p.difference[i];
    }
    double radial = 0;
    double squared_length = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      radial += point[i] * sum[i];
      squared_length += point[i] * point[i];
    }
    for (std::size_t i = 0; i < 3; ++i) gradient[row * gradient_stride + i] += sum[i] - radial / squared_length * point[i];
  }
}

void relu(const ActivationBlock<double>& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    double* z = block.feature + row * block.stride;
    for (std::size_t col = 0; col < block.cols; ++col) {
      if (block.bias != nullptr) z[col] += block.bias[col];
      if (z[col] < 0) z[col] = 0;
    }
  }
}

void sine(const ActivationBlock<double>& block, double omega, double* slope) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t col = 0; col < block.cols; ++col) {
      const std::size_t at = row * block.stride + col;
      const double angle = omega * (block.feature[at] + (block.bias == nullptr ? 0.0 : block.bias[col]));
      block.feature[at] = std::sin(angle);
      if (slope != nullptr) slope[at] = omega * std::cos(angle);
    }
  }
}

void relu_gradient(std::size_t rows, std::size_t cols, std::size_t stride, const double* feature, double* target) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = row * stride; i < row * stride + cols; ++i) {
      if (!(feature[i] > 0)) target[i] = 0;
    }
  }
}

void column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const double* from, bool accumulate, double* sums) {
  if (!accumulate) std::fill_n(sums, cols, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) sums[col] += from[row * stride + col];
  }
}

void multiply(std::size_t rows, std::size_t cols, std::size_t stride, const double* factor, double* target) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) target[row * stride + col] *= factor[row * stride + col];
  }
}

}  // namespace drift::cpu
