#include "tune/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "math/minimise.h"
#include "tune/streams.h"

namespace drift {
namespace {

constexpr double kCut = 1.0;      // values beyond the median + kCut (median - best) are cut there
constexpr int kStarts = 4;        // of the search for hyperparameters
constexpr int kEvaluations = 60;  // of the likelihood from each of them

struct Prior {
  double centre;
  double sd;
};

Prior prior_of(Eigen::Index i, Eigen::Index coordinates) {
  if (i < coordinates) {
    return {.centre = 0.5 * std::log(static_cast<double>(coordinates)), .sd = 1.0};
  }
  if (i == coordinates + 1) return {.centre = std::log(1e-4), .sd = 2.0};
  return {.centre = 0.0, .sd = 1.0};
}

struct Box {
  Eigen::VectorXd low;
  Eigen::VectorXd high;
};

// Bounds of the search: wide, but within what can be factorised.
Box hyperparameter_box(Eigen::Index coordinates) {
  Box box{.low = Eigen::VectorXd::Constant(coordinates + 3, std::log(0.01)),
          .high = Eigen::VectorXd::Constant(coordinates + 3, std::log(1e3))};
  box.low[coordinates] = std::log(0.01);
  box.high[coordinates] = std::log(100.0);
  box.low[coordinates + 1] = std::log(1e-7);
  box.high[coordinates + 1] = 0.0;
  box.low[coordinates + 2] = -5.0;
  box.high[coordinates + 2] = 5.0;
  return box;
}

Eigen::VectorXd start_of(int start, Eigen::Index coordinates, std::uint64_t seed, Eigen::Index rows) {
  Eigen::VectorXd packed(coordinates + 3);
  RandomStream random =
      tuning_stream(seed, TuningStream::fit, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(start));
  for (Eigen::Index i = 0; i < packed.size(); ++i) {
    const Prior prior = prior_of(i, coordinates);
    // Short lengthscales, where the likelihood has its slope, and half of the priors' spread around them.
    const double centre = i < coordinates ? std::log(0.5) : prior.centre;
    packed[i] = centre + (start == 0 ? 0.0 : 0.5 * prior.sd * random.normal());
  }
  return packed;
}

}  // namespace

Eigen::VectorXd robust_values(std::span<const std::optional<double>> values) {
  std::vector<double> known;
  for (const auto& value : values) {
    if (value) known.push_back(*value);
  }
  std::sort(known.begin(), known.end());
  const std::size_t half = known.size() / 2;
  const double median = known.size() % 2 == 1 ? known[half] : 0.5 * (known[half - 1] + known[half]);
  const double spread = median - known.front();
  const double cut = spread > 0.0 ? std::min(known.back(), median + kCut * spread) : known.back();
  Eigen::VectorXd robust(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) robust[static_cast<Eigen::Index>(i)] = std::min(values[i].value_or(cut), cut);
  return robust;
}

double log_prior(const Eigen::VectorXd& packed, Eigen::VectorXd& gradient) {
  gradient.resize(packed.size());
  double sum = 0.0;
  for (Eigen::Index i = 0; i < packed.size(); ++i) {
    const Prior prior = prior_of(i, packed.size() - 3);
    const double u = (packed[i] - prior.centre) / prior.sd;
    sum -= 0.5 * u * u;
    gradient[i] = -u / prior.sd;
  }
  return sum;
}

Surrogate fit_surrogate(Eigen::MatrixXd places, std::span<const std::optional<double>> values, std::vector<bool> is_choice,
                        std::uint64_t seed) {
  Eigen::VectorXd robust = robust_values(values);
  const double shift = robust.mean();
  const double sd = std::sqrt((robust.array() - shift).square().mean());
  const double scale = sd > 0.0 && std::isfinite(sd) ? sd : 1.0;
  const Eigen::Index coordinates = places.cols();
  GpData data{.places = std::move(places), .values = (robust.array() - shift) / scale, .is_choice = std::move(is_choice)};

  const MarginalLikelihood likelihood(data);
  const Differentiable cost = [&](const Eigen::VectorXd& packed, Eigen::VectorXd& gradient) {
    Eigen::VectorXd by_prior;
    const double value = likelihood(packed, gradient) + log_prior(packed, by_prior);
    gradient = -(gradient + by_prior);
    return -value;
  };
  const Box box = hyperparameter_box(coordinates);
  Minimum best{.place = start_of(0, coordinates, seed, data.places.rows()), .value = std::numeric_limits<double>::infinity()};
  for (int start = 0; start < kStarts; ++start) {
    Minimum found = minimise(cost, start_of(start, coordinates, seed, data.places.rows()), box.low, box.high, kEvaluations);
    if (found.value < best.value) best = std::move(found);
  }
  return {.process = GaussianProcess(std::move(data), unpack(best.place)), .shift = shift, .scale = scale};
}

}  // namespace drift
