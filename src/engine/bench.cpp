#include "drift/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/threads.h"
#include "drift/error.h"
#include "features/spherical.h"
#include "math/gemm.h"
#include "network/plan.h"

namespace drift {
namespace {

// Multiply-adds of one layer for one observation, as its formula has them: what engines save by algebra is counted.
struct LayerWork {
  double frequencies;  // hidden input and coordinates to phases, unit vector to cosines
  double hidden;       // the hidden input's share of those
  double bottleneck;
};

LayerWork work_of(const LayerPlan& layer) {
  const double features = layer.features;
  if (layer.kind != FeatureKind::random) return {.frequencies = 0, .hidden = 0, .bottleneck = features * layer.outputs};
  const double hidden = features * layer.hidden;
  const double coordinates = features * (layer.coordinates + (layer.sphere ? 3 : 0));
  return {.frequencies = hidden + coordinates, .hidden = hidden, .bottleneck = features * layer.outputs};
}

constexpr std::size_t kFewSteps = 8;
constexpr std::size_t kLeastPairs = 5;
constexpr double kLongCallSeconds = 0.5;  // of steps: long enough to drown what else a machine does
constexpr double kCallGrowth = 10.0;      // of a call that was too short, at most

// The upper one of the two in the middle where their number is even.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double head_work(const Plan& plan) { return plan.has_head ? static_cast<double>(plan.head_inputs) * plan.spec.outputs : 0.0; }

}  // namespace

double prediction_flops(const NetworkSpec& spec) {
  const Plan plan = make_plan(spec);
  double multiply_adds = head_work(plan);
  for (const LayerPlan& layer : plan.layers) multiply_adds += work_of(layer).frequencies + work_of(layer).bottleneck;
  return 2.0 * multiply_adds;
}

double training_flops(const NetworkSpec& spec) {
  const Plan plan = make_plan(spec);
  double multiply_adds = 2.0 * head_work(plan);  // gradients of its weights and of its inputs
  for (const LayerPlan& layer : plan.layers) {
    const LayerWork work = work_of(layer);
    multiply_adds += work.bottleneck;                                      // gradient of the bottleneck
    if (layer.hidden > 0) multiply_adds += work.bottleneck + work.hidden;  // of the features, then of the hidden input
  }
  return prediction_flops(spec) + 2.0 * multiply_adds;
}

double gemm_gflops(int threads, int size) {
  if (threads < 1 || size < 1) throw UsageError(fmt::format("bench: a product of size {} on {} threads", size, threads));
  const auto n = static_cast<std::size_t>(size);
  const std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f);
  std::vector<float> c(n * n, 0.0f);
  const cpu::Gemm<float> product = {
      .m = n, .n = n, .k = n, .a = a.data(), .lda = n, .b = b.data(), .ldb = n, .c = c.data(), .ldc = n};
  double best_s = INFINITY;
  for (int repeat = 0; repeat < 3; ++repeat) {  // the first warms up the library and the memory, but may be the best all the same
    const auto start = std::chrono::steady_clock::now();
    cpu::gemm_on_all_threads(product, threads);
    best_s = std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * std::pow(size, 3) / best_s * 1e-9;
}

StepTiming time_steps(double seconds, const std::function<double(std::size_t steps)>& call) {
  call(kFewSteps);  // warms up
  std::size_t more = 4 * kFewSteps;
  std::vector<double> step_s, copies_s;
  StepTiming result = {};
  while (result.seconds < seconds || result.pairs < kLeastPairs) {
    const double few = call(kFewSteps), many = call(kFewSteps + more), difference = many - few;
    if (difference < kLongCallSeconds) {  // such a pair is not counted
      const double factor = 1.2 * kLongCallSeconds / std::max(difference, 1.2 * kLongCallSeconds / kCallGrowth);
      more = static_cast<std::size_t>(std::ceil(factor * static_cast<double>(more)));
      continue;
    }
    step_s.push_back(difference / static_cast<double>(more));
    copies_s.push_back(few - static_cast<double>(kFewSteps) * step_s.back());
    ++result.pairs;
    result.steps += 2 * kFewSteps + more;
    result.seconds += few + many;
  }
  result.step_s = median(step_s);
  result.copies_s = median(copies_s);
  return result;
}

const char* gemm_library_name() { return cpu::gemm_library(); }

double peak_rss_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts in KiB
}

NetworkSpec spherical_bench_spec(double mean_degree) {
  NetworkSpec spec = default_spec(Space::sphere, 3, true);
  spec.coupling = Coupling::additive;  // with spherical features
  spec.spatial.layers = 3;             // as many as the paper's network of its third experiment
  const auto mean_at = [&](double lengthscale) {
    return SphericalSpectrum(spec.spatial.covariance, lengthscale, spec.sphere_tail_mass, spec.sphere_max_degree).mean_degree();
  };
  double low = 1e-5, high = 1.0;  // radians; the mean degree falls as the lengthscale grows
  if (!(mean_degree < mean_at(low) && mean_degree > mean_at(high))) {
    throw UsageError(fmt::format("bench: a mean degree of {:g} is out of reach; it must lie between {:.1f} and {:.0f}",
                                 mean_degree, mean_at(high), mean_at(low)));
  }
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = std::sqrt(low * high);
    (mean_at(middle) > mean_degree ? low : high) = middle;
  }
  spec.spatial.lengthscales = {std::sqrt(low * high)};
  return spec;
}

int default_threads() { return available_threads(); }

}  // namespace drift
