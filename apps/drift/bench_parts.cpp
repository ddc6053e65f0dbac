#include "bench_parts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "drift/bench.h"
#include "drift/engine.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

RandomData::RandomData(const drift::NetworkSpec& spec, std::size_t count)
    : rows(count), columns(static_cast<std::size_t>(spec.coordinates())), coordinates(rows * columns), values(rows) {
  std::uint64_t state = 1;
  const auto uniform = [&state] {  // a Weyl sequence through a mixer (Steele, Lea & Flood 2014)
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1.0f;  // in [-1, 1)
  };
  for (float& c : coordinates) c = 1.7f * uniform();
  for (float& v : values) v = 1.7f * uniform();
  if (spec.space == drift::Space::sphere) {
    for (std::size_t i = 0; i < rows; ++i) {
      float* s = coordinates.data() + i * columns;
      const float norm = std::max(1e-3f, std::hypot(s[0], s[1], s[2]));
      for (int c = 0; c < 3; ++c) s[c] /= norm;
    }
  }
}

Total repeat_for(double seconds, const std::function<double(std::size_t amount)>& work) {
  Total total = {0.0, 0.0};
  std::size_t amount = 1;
  while (total.seconds < seconds) {
    const Clock::time_point start = Clock::now();
    total.done += work(amount);
    const double taken = seconds_since(start);
    total.seconds += taken;
    amount = std::clamp<std::size_t>(static_cast<std::size_t>(0.5 * static_cast<double>(amount) / std::max(taken, 1e-4)), 1,
                                     10 * amount);
  }
  return total;
}

Measurement measure(const MeasureOptions& options, double flops_per_row, const std::function<double(std::size_t amount)>& work) {
  work(2);
  Measurement result = {};
  result.peak_rss_mib = drift::peak_rss_mib();
  const auto product = [&] { return options.matrix_size > 0 ? drift::gemm_gflops(options.threads, options.matrix_size) : 0.0; };
  result.gemm_gflops = product();
  const Total total = repeat_for(options.seconds, work);
  result.gemm_gflops = std::max(result.gemm_gflops, product());
  result.work_s = total.seconds;
  result.rows = total.done;
  result.gflops = total.done * flops_per_row / total.seconds * 1e-9;
  return result;
}

Measurement measure_training(drift::Engine& engine, const MeasureOptions& options, const drift::NetworkSpec& spec,
                             drift::Recipe recipe, std::size_t members, std::size_t observations) {
  recipe.epochs = 1e6;  // never ends by itself
  const RandomData data(spec, observations);
  const drift::TrainingSet set = {.coordinates = data.coordinate_view(), .values = data.value_view()};
  drift::Ensemble ensemble = drift::draw_ensemble(spec, 1, members);
  drift::TrainingState state;
  std::uint64_t until = 0;
  const auto rows_a_step = static_cast<double>(std::min(recipe.batch, observations) * members);
  return measure(options, drift::training_flops(spec), [&](std::size_t steps) {
    until += steps;
    engine.advance(ensemble, state, set, recipe, until, {});
    return static_cast<double>(steps) * rows_a_step;
  });
}
