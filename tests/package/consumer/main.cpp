// Learns a wave from noisy observations of it, and knows where it has seen none.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "drift/engine.h"

float wave(float x, float y) { return std::sin(3.0f * x + 2.0f * y); }

int main() {
  // Points in a square, [rows, 2], each coordinate of unit variance.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> place(-1.73f, 1.73f);
  const auto draw_points = [&](std::size_t rows) {
    std::vector<float> points(2 * rows);
    for (float& coordinate : points) coordinate = place(random);
    return points;
  };

  // 5,000 observations there: values with noise.
  constexpr std::size_t kObservations = 5000;
  std::vector<float> coordinates = draw_points(kObservations);
  std::normal_distribution<float> noise(0.0f, 0.05f);
  std::vector<float> values;
  for (std::size_t i = 0; i < kObservations; ++i) {
    values.push_back(wave(coordinates[2 * i], coordinates[2 * i + 1]) + noise(random));
  }

  // Five networks of one spec, each drawn from its own random key, trained together.
  drift::NetworkSpec spec = drift::default_spec(drift::Space::plane, 2, /*time=*/false);
  spec.spatial.layers = 2;
  spec.spatial.lengthscales = {0.5};
  spec.features = 256;
  spec.bottleneck = 32;
  drift::Recipe recipe = drift::default_recipe();
  recipe.noise_sd = 0.05;
  recipe.batch = 256;
  recipe.epochs = 30.0;
  drift::Ensemble ensemble = drift::draw_ensemble(spec, /*seed=*/1, /*members=*/5);
  drift::TrainingState state;
  const auto engine = drift::make_cpu_engine();
  drift::train(*engine, ensemble, state, {{coordinates.data(), kObservations, 2}, {values.data(), kObservations, 1}}, recipe);
  drift::save_model("wave.safetensors", ensemble);

  // The members' mean is the field; their variance says how sure it is. The last of the new points is far from all observations.
  constexpr std::size_t kNear = 1000;
  std::vector<float> points = draw_points(kNear);
  points.insert(points.end(), {6.0f, -6.0f});
  std::vector<float> mean(kNear + 1), variance(kNear + 1);
  engine->predict(ensemble, {points.data(), kNear + 1, 2},
                  {.mean = {mean.data(), kNear + 1, 1}, .variance = {variance.data(), kNear + 1, 1}, .members = {}});

  double squared_error = 0.0, near_variance = 0.0;
  for (std::size_t i = 0; i < kNear; ++i) {
    squared_error += std::pow(mean[i] - wave(points[2 * i], points[2 * i + 1]), 2.0) / kNear;
    near_variance += variance[i] / kNear;
  }
  std::printf("among the observations: rms error %.3f, sd %.3f\n", std::sqrt(squared_error), std::sqrt(near_variance));
  std::printf("far from them: sd %.3f\n", std::sqrt(variance[kNear]));
}
