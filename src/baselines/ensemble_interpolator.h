#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drift/engine.h"
#include "drift/interpolator.h"

namespace drift {

// An ensemble of networks of one spec as an interpolator: the members' mean, and their standard deviation for sd_epistemic. Of
// the noise it knows nothing.
struct EnsembleSettings {
  std::string method = "ensemble";  // heads the messages
  NetworkSpec spec;                 // of one output and the data's coordinates
  Recipe recipe;                    // its batch is cut to the number of observations
  std::size_t members = 10;
  std::size_t least_steps = 0;  // where the recipe's epochs are fewer steps, there are more epochs: small data need them
};

class EnsembleInterpolator : public Interpolator {
 public:
  explicit EnsembleInterpolator(EnsembleSettings settings);
  EnsembleInterpolator(std::string method, const Recipe& recipe);  // to be restored: its networks are those of a state

  using Interpolator::fit;
  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override;
  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override;
  void save(State& state) const override;
  void restore(const State& state, const Domain& domain) override;
  bool knows_noise() const override { return false; }
  std::size_t members() const override { return ensemble_.members.size(); }
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

  const Ensemble& ensemble() const { return ensemble_; }
  const Recipe& recipe() const { return recipe_; }  // after fit(): as it was trained

 private:
  EnsembleSettings settings_;
  std::unique_ptr<Engine> engine_;
  Ensemble ensemble_;
  Recipe recipe_;
  double last_loss_ = 0.0;  // mean of the members' over the last tenth of their steps
};

// The recipe for so many observations: batches no larger than they are many, and epochs for at least `least_steps` steps.
Recipe fitted_recipe(Recipe recipe, std::size_t observations, std::size_t least_steps);

}  // namespace drift
