#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "gp/evidence_search.h"
#include "gp/gp_data.h"

namespace drift::gp {

// A mixture of local Gaussian processes, as GPSat makes it (Gregory et al. 2024): experts at places of a lattice, each with
// parameters of its own from the observations around it, then with those parameters smoothed among neighbours; predictions are
// blended by distance.
//
// Blending: with d the distance from an expert, w = (1 - (d / reach)^2)^4 inside its reach, 0 outside, normalised to sum one,
//   mean = sum w m_e,   variance = sum w (v_e + m_e^2) - mean^2.
// Where the weights sum to less than 1e-4 the prior (mean and variance of all values) takes what is missing of it, so that the
// field stays continuous and goes over into the prior far from all experts.

struct ExpertSettings {
  double spacing = 0.2;                 // of expert places, engine units
  double radius = 0.3;                  // within which an expert sees observations
  double reach = 0.24;                  // beyond which it does not predict
  double smoothing = 0.2;               // standard deviation of the Gaussian weights that smooth log parameters; 0: no smoothing
  std::size_t max_observations = 500;   // an expert's, drawn where there are more
  std::size_t fit_observations = 500;   // of these, drawn, that its parameters are fitted to, by the exact evidence
  std::size_t least_observations = 20;  // places with fewer are left to their neighbours
  std::size_t inducing = 0;             // points of an expert with more observations than fit_observations; 0: exact processes
  int evaluations = 25;                 // of the evidence, for each expert
  std::vector<std::optional<double>> lengthscales = {};
  std::uint64_t seed = 1;
  int threads = 1;
  std::function<std::string(const Eigen::VectorXd& place)> describe = {};  // of an expert's place, for errors
};

// Lattice points within the bounds of the observations' first `space_coordinates` coordinates: a square one on the plane, a
// Fibonacci lattice of about the same density on the sphere. [space_coordinates, experts]
Eigen::MatrixXd expert_places(const GpData& data, Space space, int space_coordinates, double spacing);

double expert_place_count(const GpData& data, Space space, double spacing);  // how many these are

// An expert without its factors: what is kept of it.
struct ExpertRecord {
  Eigen::VectorXd place;
  std::vector<Eigen::Index> rows;  // its observations; parameters are fitted to the first of them, and the first are inducing
  GpParameters fitted, smoothed;
};

class ExpertMixture {
 public:
  // Fits both passes. Throws Stopped when stopped.
  ExpertMixture(KernelSpec spec, const GpData& data, const Eigen::MatrixXd& places, const ExpertSettings& settings,
                const std::string& method, const Control& control = {});
  // The same mixture from records() of an earlier one. Throws Error where a record does not fit the observations.
  ExpertMixture(KernelSpec spec, const GpData& data, const std::vector<ExpertRecord>& records, const ExpertSettings& settings,
                const std::string& method);
  ~ExpertMixture();
  ExpertMixture(const ExpertMixture&) = delete;
  ExpertMixture& operator=(const ExpertMixture&) = delete;
  ExpertMixture(ExpertMixture&&) noexcept;
  ExpertMixture& operator=(ExpertMixture&&) noexcept;

  std::size_t experts() const { return experts_.size(); }
  const ExpertRecord& record(std::size_t expert) const;
  Eigen::VectorXd place(std::size_t expert) const;
  const GpParameters& fitted(std::size_t expert) const;    // of the first pass
  const GpParameters& smoothed(std::size_t expert) const;  // of the second; what predicts
  GpParameters typical() const;                            // the mean of the smoothed logarithms

  // At points [dimensions, m]: the field's mean and variance, and the variance of a new observation's noise.
  void predict(Points points, Eigen::VectorXd& mean, Eigen::VectorXd* variance, Eigen::VectorXd& noise) const;

 private:
  struct Expert;

  void describe_prior(const GpData& data);
  void fit_experts(const GpData& data, const ExpertSettings& settings, const std::string& method, const Control& control);
  void smooth_parameters(double width);
  void make_predictors(const GpData& data, const ExpertSettings& settings, const std::string& method, const Control& control);

  KernelSpec spec_;
  std::vector<std::unique_ptr<Expert>> experts_;
  double reach_ = 0.0;
  Eigen::Index space_coordinates_ = 2;
  double prior_mean_ = 0.0;
  double prior_variance_ = 1.0;
  double known_noise_ = 0.0;  // mean of the errors that are known
};

}  // namespace drift::gp
