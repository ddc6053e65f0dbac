// From arrays to maps in memory: a wave that travels east, observed at scattered places and times, with noise.
#include <cmath>
#include <cstdio>
#include <random>

#include "drift/drift.h"

double wave(double lon, double lat, double day) { return std::sin((lon - 2.0 * day) / 4.0) + std::cos(lat / 5.0); }

int main() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> lon(-20.0, 20.0), lat(30.0, 50.0), day(20000.0, 20010.0);
  std::normal_distribution<double> noise(0.0, 0.05);
  drift::Observations seen;
  for (int i = 0; i < 3000; ++i) {
    const double x = lon(random), y = lat(random), t = day(random);
    seen.lon_deg.push_back(x), seen.lat_deg.push_back(y), seen.time_days.push_back(t);
    seen.value.push_back(wave(x, y, t) + noise(random));
  }
  const drift::FieldModel model = drift::run_fit({}, drift::make_dataset(seen, {.name = "wave"})).result.model;
  const drift::Grid grid = drift::parse_grid("bbox:-15,35,15,45:1");
  const drift::Field map = drift::predict_map(model, {.grid = grid, .time_days = {20004.0, 20006.0}});
  double error = 0.0, sd = 0.0, share = 1.0 / static_cast<double>(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double truth = wave(grid.x.at(i % grid.x.count), grid.y.at(i / grid.x.count), 20004.0);
    error += share * std::pow(map.layer("wave")[i] - truth, 2), sd += share * map.layer("wave_uncertainty")[i];
  }
  std::printf("rms error %.3f, mean sd %.3f\n", std::sqrt(error), sd);
}
