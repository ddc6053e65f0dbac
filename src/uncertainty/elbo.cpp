// The evidence lower bound of variational weights; train/variational.h has its form and how it is trained. The likelihood of a
// residual r with weight w is exp(-loss(r) / (2 t^2)) / Z(t), t^2 = sigma^2 / w (train/loss.h).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/blocks.h"
#include "drift/error.h"
#include "drift/uncertainty.h"
#include "network/plan.h"
#include "train/loss.h"
#include "train/variational.h"

namespace drift {
namespace {

class Likelihood {
 public:
  Likelihood(const Recipe& recipe, std::size_t observations)
      : loss_(loss_of(recipe)), variance_(weight_decay(recipe, observations) * static_cast<double>(observations)) {
    if (!(variance_ > 0.0)) throw UsageError("elbo: the noise's standard deviation (or beta) is 0 but must be more");
  }

  double log_density(double residual, double weight) const {
    if (weight == 0.0) return 0.0;  // the observation says nothing
    const double t = std::sqrt(variance_ / weight);
    return -0.5 / (t * t) * loss_value(loss_, residual) - log_normaliser(loss_, t);
  }

 private:
  Loss loss_;
  double variance_;
};

// Mean over the draws of the data's log likelihood.
double mean_log_likelihood(Engine& engine, const Ensemble& draws, const TrainingSet& data, const Likelihood& likelihood) {
  const std::size_t outputs = data.values.cols, columns = draws.members.size() * outputs;
  std::vector<float> predictions(std::min(kPointsAtATime, data.values.rows) * columns);
  const std::unique_ptr<Predictor> predictor = engine.prepare(draws);
  double sum = 0.0;
  for_blocks(data.values.rows, [&](std::size_t first, std::size_t rows) {
    const MatrixView<float> members(predictions.data(), rows, columns);
    predictor->predict(data.coordinates.middle_rows(first, rows), {.mean = {}, .variance = {}, .members = members});
    for (std::size_t row = 0; row < rows; ++row) {
      const double weight = data.weights.empty() ? 1.0 : static_cast<double>(data.weights[first + row]);
      for (std::size_t col = 0; col < columns; ++col) {
        const double residual = static_cast<double>(members(row, col)) - data.values(first + row, col % outputs);
        sum += likelihood.log_density(residual, weight);
      }
    }
  });
  return sum / static_cast<double>(draws.members.size());
}

}  // namespace

Elbo elbo(Engine& engine, const Ensemble& ensemble, const TrainingSet& data, const Recipe& recipe, std::size_t draws,
          std::uint64_t seed) {
  if (data.values.rows == 0) throw UsageError("elbo: there are no observations");
  if (ensemble.members.empty()) throw UsageError("elbo: the ensemble has no members");
  if (draws < 1) throw UsageError("elbo: at least one draw is needed");
  const Likelihood likelihood(recipe, data.values.rows);
  const std::vector<MatrixPlace> places = trained_matrices(make_plan(ensemble.spec));
  const double share = 1.0 / static_cast<double>(ensemble.members.size());
  Elbo result;
  for (const Member& member : ensemble.members) {
    const Ensemble one{ensemble.spec, ensemble.seed, {member}};
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const Ensemble drawn = variational_draws(one, 1, seed, draw, engine.host_threads());
      result.log_likelihood += share / static_cast<double>(draws) * mean_log_likelihood(engine, drawn, data, likelihood);
    }
    for (const MatrixPlace& place : places) {
      result.kl += share * kl_from_prior({member.parameters.data() + place.offset, place.size()},
                                         {member.log_sd.data() + place.offset, place.size()});
    }
  }
  return result;
}

}  // namespace drift
