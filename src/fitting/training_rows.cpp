#include "fitting/training_rows.h"

#include <algorithm>
#include <cmath>

#include "core/threads.h"

namespace drift {
namespace {

std::vector<float> weights_of(const Observations& observations, std::span<const std::size_t> rows) {
  if (observations.sigma.empty() || rows.empty()) return {};
  std::vector<float> sigma;
  sigma.reserve(rows.size());
  for (const std::size_t row : rows) sigma.push_back(observations.sigma[row]);
  const auto middle = sigma.begin() + static_cast<std::ptrdiff_t>(sigma.size() / 2);
  std::nth_element(sigma.begin(), middle, sigma.end());
  const double median = *middle;
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double s = observations.sigma[rows[i]];
    sigma[i] = static_cast<float>(2.0 * median * median / (s * s + median * median));
    sum += sigma[i];
  }
  for (float& weight : sigma) weight = static_cast<float>(weight * static_cast<double>(rows.size()) / sum);
  return sigma;
}

}  // namespace

TrainingSet TrainingRows::view() const {
  return {.coordinates = MatrixView<const float>(coordinates.data(), values.size(), columns),
          .values = MatrixView<const float>(values.data(), values.size(), 1),
          .weights = weights,
          .folds = folds.of,
          .fold_count = folds.count};
}

TrainingRows training_rows(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows,
                           bool has_time, int threads) {
  constexpr std::size_t kBlock = 8192;
  TrainingRows out;
  out.columns = static_cast<std::size_t>(space_coordinates(domain)) + (has_time ? 1 : 0);
  out.coordinates.resize(rows.size() * out.columns);
  out.values.resize(rows.size());
  const std::size_t blocks = (rows.size() + kBlock - 1) / kBlock;
  const std::size_t used = std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(threads_or_all(threads)));
  run_on_threads(static_cast<int>(used), [&](int thread) {
    std::vector<double> lon, lat, time;
    for (std::size_t first = static_cast<std::size_t>(thread) * kBlock; first < rows.size(); first += used * kBlock) {
      const std::size_t count = std::min(kBlock, rows.size() - first);
      lon.clear(), lat.clear(), time.clear();
      for (std::size_t i = first; i < first + count; ++i) {
        const std::size_t row = rows[i];
        lon.push_back(observations.lon_deg[row]);
        lat.push_back(observations.lat_deg[row]);
        if (has_time) time.push_back(observations.time_days[row]);
        out.values[i] = static_cast<float>(domain.value.to_engine(observations.value[row]));
      }
      engine_rows(domain, lon, lat, time, MatrixView<float>(out.coordinates.data() + first * out.columns, count, out.columns));
    }
  });
  out.weights = weights_of(observations, rows);
  return out;
}

}  // namespace drift
