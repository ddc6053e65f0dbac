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

std::optional<drift::ProductSpeed> own_product(const MeasureOptions& options) {
  if (options.card) return drift::card_product(*options.card, options.matrix_size);
  return drift::ProductSpeed{drift::gemm_gflops(options.threads, options.matrix_size), drift::gemm_library_name()};
}

// Product, work, product: the better of the two products stands beside the work, which fills in its part of the measurement.
Measurement beside_product(const MeasureOptions& options, const std::function<void(Measurement&)>& work) {
  Measurement result = {};
  result.peak_rss_mib = drift::peak_rss_mib();
  result.product = own_product(options);
  work(result);
  const auto again = own_product(options);
  if (result.product && again) result.product->gflops = std::max(result.product->gflops, again->gflops);
  return result;
}

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
  return beside_product(options, [&](Measurement& result) {
    const Total total = repeat_for(options.seconds, work);
    result.rows_per_s = total.done / total.seconds;
    result.gflops = result.rows_per_s * flops_per_row * 1e-9;
    result.seconds = total.seconds;
  });
}

Measurement measure_training(drift::Engine& engine, const MeasureOptions& options, const drift::NetworkSpec& spec,
                             drift::Recipe recipe, std::size_t members, std::size_t observations) {
  recipe.epochs = 1e6;  // never ends by itself
  const RandomData data(spec, observations);
  const drift::TrainingSet set = {.coordinates = data.coordinate_view(), .values = data.value_view()};
  drift::Ensemble ensemble = drift::draw_ensemble(spec, 1, members, options.threads);
  drift::TrainingState state;
  std::uint64_t until = 0;
  const auto rows_a_step = static_cast<double>(std::min(recipe.batch, observations) * members);
  const auto train = [&](std::size_t steps) {
    until += steps;
    engine.advance(ensemble, state, set, recipe, until, {});
  };
  if (!options.card) {
    return measure(options, drift::training_flops(spec), [&](std::size_t steps) {
      train(steps);
      return static_cast<double>(steps) * rows_a_step;
    });
  }
  train(2);
  return beside_product(options, [&](Measurement& result) {
    result.steps = drift::time_steps(options.seconds, [&](std::size_t steps) {
      const Clock::time_point start = Clock::now();
      train(steps);
      return seconds_since(start);
    });
    result.rows_per_s = rows_a_step / result.steps->step_s;
    result.gflops = result.rows_per_s * drift::training_flops(spec) * 1e-9;
    result.seconds = result.steps->seconds;
  });
}
