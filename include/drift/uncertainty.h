#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "drift/control.h"
#include "drift/engine.h"
#include "drift/ensemble.h"
#include "drift/export.h"
#include "drift/matrix_view.h"
#include "drift/recipe.h"

namespace DRIFT_PUBLIC drift {

// Uncertainty of the field beyond the spread of an ensemble's members. Prediction is always by an ordinary
// ensemble: a draw from a posterior is a member like any other, and so a continuous field with gradients.

// Networks trained with Recipe::dropout. A draw leaves out a share of the inputs of every bottleneck and of the head, the same
// ones at all points, and scales the others by 1 / (1 - rate). Draws first_draw, first_draw + 1, ... of each member, a member's
// draws side by side; which ones depends on (seed, member's index, draw) alone, so that many draws may be made a few at a time: a
// draw takes the memory of a member. threads 0: one per core.
Ensemble dropout_draws(const Ensemble& ensemble, double rate, std::size_t draws_a_member, std::uint64_t seed,
                       std::size_t first_draw = 0, int threads = 0);

// Networks with variational weights: every entry of the bottlenecks and of the head is N(parameters, exp(log_sd)^2).

// Gives every such entry the standard deviation `initial_sd` (0, 1]. To be called on a freshly drawn ensemble; training then
// finds means and log sds. The default had the highest bound of 0.1, 0.3 and 1 in a trial of 24 epochs; the prior's is 1.
inline constexpr double kInitialWeightSd = 0.3;
void make_variational(Ensemble& ensemble, double initial_sd = kInitialWeightSd);
bool is_variational(const Ensemble& ensemble);

// Members with fixed weights, drawn from the above; order and seeds as of dropout_draws.
Ensemble variational_draws(const Ensemble& ensemble, std::size_t draws_a_member, std::uint64_t seed, std::size_t first_draw = 0,
                           int threads = 0);

// The evidence lower bound on the log probability of the data, in nats, mean over the members; the larger the better. The
// likelihood is exp(-weight loss / (2 sigma_y^2)), normalised, with sigma_y the recipe's noise_sd (or sqrt(beta N)).
struct Elbo {
  double log_likelihood = 0.0;  // E_q, over `draws` draws of the weights
  double kl = 0.0;              // exact

  double value() const { return log_likelihood - kl; }
};
Elbo elbo(Engine& engine, const Ensemble& ensemble, const TrainingSet& data, const Recipe& recipe, std::size_t draws = 8,
          std::uint64_t seed = 0);

// The exact posterior of a member's last trained matrix, all before it held fixed. With phi an observation's inputs of that
// matrix (Engine::head_inputs), w its weight, and the prior N(0, I),
//   A = sum_n w_n phi_n phi_n^T / sigma_y^2 + I,   mean = A^-1 sum_n w_n phi_n y_n^T / sigma_y^2,   covariance A^-1
// of each of the matrix's columns.
// For a network of one layer this is the Gaussian process whose covariance is that of its random features.
struct LastLayerPosterior {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::vector<float> mean;            // [inputs, outputs]
  std::vector<float> inverse_factor;  // [inputs, inputs] L^-1, a lower triangle with zeros above; A = L L^T
};

// One per member. Streams over the data; memory of inputs^2 doubles. noise_sd > 0: sigma_y. threads 0: the engine's (Engine::
// host_threads); they do not change the result. Throws UsageError for an invalid noise_sd.
std::vector<LastLayerPosterior> fit_last_layer(Engine& engine, const Ensemble& ensemble, const TrainingSet& data, double noise_sd,
                                               int threads = 0, const Control& control = {});

// Mean and variance of the mixture of the members' predictions: mean over the members of phi^T A^-1 phi, plus the variance
// between their outputs (divided by their number less one, as Engine::predict does; zero for one member). out.members as
// Engine::predict. `networks`: the ensemble, prepared (Engine::prepare). threads 0: one per core.
void predict_last_layer(Predictor& networks, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors,
                        MatrixView<const float> coordinates, const PredictionViews& out, int threads = 0);

// Adds the mean over the members of d^T A^-1 d to variances [n / 2], d what phi differs by between points 2 i and 2 i + 1: the
// part of a difference's variance within the members.
void add_last_layer_differences(Predictor& networks, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors,
                                MatrixView<const float> coordinates, std::span<double> variances, int threads = 0);

// The posteriors of a model file (drift/ensemble.h), one per member of its ensemble; none if the file has none. Throws Error as
// load_model does, which reads all but them.
std::vector<LastLayerPosterior> load_last_layers(const std::filesystem::path& path, const Ensemble& ensemble);

}  // namespace drift
