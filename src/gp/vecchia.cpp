#include "gp/vecchia.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "core/threads.h"
#include "gp/factor.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kTask = 32;  // conditionals, the smallest piece of work

struct TaskSum {
  double value = 0.0;
  double mean_top = 0.0;  // m = top / bottom
  double mean_bottom = 0.0;
  VectorXd gradient;
  bool failed = false;
};

class Task {
 public:
  Task(const Kernel& kernel, const GpData& data, double noise_variance, double mean)
      : kernel_(kernel), data_(data), noise_variance_(noise_variance), mean_(mean) {}

  void add(const Conditional& conditional, TaskSum& sum) {
    const auto n = static_cast<Index>(conditional.given.size());
    gather(conditional);
    k_.resize(n + 1, n + 1);
    kernel_.lower(points_, k_);
    k_.diagonal() += noise_;
    if (!factor_given(n)) {
      sum.failed = true;
      return;
    }
    solved_.resize(n, 2);  // K_NN^-1 of k_Ni and of y_N
    solved_.col(0) = k_.row(n).head(n).transpose();
    solved_.col(1) = residual_.head(n);
    solve_lower(lower_, false, solved_);
    solve_lower(lower_, true, solved_);
    const auto b = solved_.col(0);
    const double v = k_(n, n) - k_.row(n).head(n).dot(b);
    if (!(v > 0.0)) {
      sum.failed = true;
      return;
    }
    const double e = residual_[n] - b.dot(residual_.head(n));
    const double ones = 1.0 - b.sum();
    sum.value += -0.5 * std::log(2.0 * std::numbers::pi * v) - 0.5 * e * e / v;
    sum.mean_top += ones * e / v;
    sum.mean_bottom += ones * ones / v;
    add_gradient(n, v, e, sum);
  }

 private:
  bool factor_given(Index n) {
    lower_ = k_.topLeftCorner(n, n);
    if (factor_in_place(lower_) == 0) return true;
    std::optional<Factor> factor = try_factor(k_.topLeftCorner(n, n));
    if (factor) lower_ = factor->lower;
    return factor.has_value();
  }

  void gather(const Conditional& conditional) {
    const auto n = static_cast<Index>(conditional.given.size());
    points_.resize(data_.points.rows(), n + 1);
    residual_.resize(n + 1);
    noise_.resize(n + 1);
    for (Index i = 0; i <= n; ++i) {
      const Index row = i < n ? conditional.given[static_cast<std::size_t>(i)] : conditional.target;
      points_.col(i) = data_.points.col(row);
      residual_[i] = data_.values[row] - mean_;
      noise_[i] = noise_variance_ + data_.known(row);
    }
  }

  void add_gradient(Index n, double v, double e, TaskSum& sum) {
    VectorXd w(n + 1);
    w << -solved_.col(0), 1.0;
    VectorXd a(n + 1);
    a << solved_.col(1), 0.0;
    const double by_v = 0.5 * (e * e / v - 1.0) / v;
    const double by_e = 0.5 * e / v;  // a' dK w is shared by (i, j) and (j, i)
    // dL/dK = by_v w w' + by_e (a w' + w a'), its lower triangle.
    for (Index j = 0; j <= n; ++j) {
      k_.col(j).tail(n + 1 - j) = (by_v * w[j] + by_e * a[j]) * w.tail(n + 1 - j) + by_e * w[j] * a.tail(n + 1 - j);
    }
    KernelParameters gradient = KernelParameters::Zero(kernel_.parameters().size());
    kernel_.backward_symmetric(points_, k_, gradient);
    sum.gradient.head(gradient.size()) += gradient;
    sum.gradient[gradient.size()] += 2.0 * noise_variance_ * k_.diagonal().sum();
  }

  const Kernel& kernel_;
  const GpData& data_;
  double noise_variance_;
  double mean_;
  MatrixXd points_, k_, lower_, solved_;
  VectorXd residual_, noise_;
};

}  // namespace

VecchiaSum vecchia_likelihood(const KernelSpec& spec, const GpData& data, const std::vector<Conditional>& conditionals,
                              const VectorXd& theta, double mean, int threads) {
  const GpParameters parameters = GpParameters::unpacked(theta, mean);
  const Kernel kernel(spec, parameters.kernel);
  const std::size_t tasks = (conditionals.size() + kTask - 1) / kTask;
  std::vector<TaskSum> sums(tasks);
  std::atomic<std::size_t> next = 0;
  run_on_threads(std::max(1, threads), [&](int) {
    Task task(kernel, data, parameters.noise_variance(), mean);
    for (std::size_t t = next++; t < tasks; t = next++) {
      sums[t].gradient = VectorXd::Zero(theta.size());
      const std::size_t end = std::min(conditionals.size(), (t + 1) * kTask);
      for (std::size_t i = t * kTask; i < end; ++i) task.add(conditionals[i], sums[t]);
    }
  });
  VecchiaSum out{.value = 0.0, .mean = mean, .gradient = VectorXd::Zero(theta.size())};
  double top = 0.0;
  double bottom = 0.0;
  for (const TaskSum& sum : sums) {
    out.value += sum.failed ? -std::numeric_limits<double>::infinity() : sum.value;
    out.gradient += sum.gradient;
    top += sum.mean_top;
    bottom += sum.mean_bottom;
  }
  if (bottom > 0.0) out.mean += top / bottom;
  return out;
}

}  // namespace drift::gp
