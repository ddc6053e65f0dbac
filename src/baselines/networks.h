#pragma once

#include <optional>

#include "baselines/ensemble_interpolator.h"
#include "baselines/method_settings.h"

namespace drift {

// The paper's other networks (ReLU MLP, Fourier features network, SIREN) as ensembles: their settings as read, and the
// interpolator that makes a spec of them once the data are known.
struct NetworkSettings {
  std::string method;  // "mlp"
  DenseSpec dense;
  Recipe recipe;
  std::size_t members = 10;
  std::size_t least_steps = 2000;
  std::size_t features = 512;  // of Fourier inputs
  // Of Fourier features, in the engine's units; none: from the density of the observations, time 1.
  std::optional<double> lengthscale, time_lengthscale;
  double amplitude = 1.0;
  std::size_t trials = 0;  // of a search for these three on a part of the training observations
};

// The lengthscale of Fourier features from the observations' density: with s the distance between n of them if they lay evenly
// over four standard deviations each way (on the sphere: over it), 1.6 sqrt(s) within [0.1, 0.5].
double density_lengthscale(Space space, std::size_t observations);

class NetworkInterpolator : public Interpolator {
 public:
  explicit NetworkInterpolator(NetworkSettings settings) : settings_(std::move(settings)) {}

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override;
  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override;
  void save(State& state) const override;
  void restore(const State& state, const Domain& domain) override;
  bool knows_noise() const override { return false; }
  std::size_t members() const override { return ensemble_ ? ensemble_->members() : 0; }
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

 private:
  NetworkSpec spec_for(const InterpolatorData& data) const;
  EnsembleSettings ensemble_settings(const NetworkSpec& spec, const InterpolatorData& data) const;
  void search(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control, NetworkSpec& spec) const;
  // Root mean square error on held-out rows of one network trained on the others.
  double trial_error(const NetworkSpec& spec, const InterpolatorData& training, const InterpolatorData& held_out,
                     const InterpolatorOptions& options, const Control& control) const;

  NetworkSettings settings_;
  NetworkSpec spec_;
  std::unique_ptr<EnsembleInterpolator> ensemble_;
};

}  // namespace drift
