#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "gp/evidence_search.h"
#include "gp/factor.h"
#include "gp/gp_data.h"

namespace drift::gp {

// Gaussian-process regression without approximation: n^2 memory, n^3 time. Rasmussen & Williams 2006, algorithm 2.1.

struct ExactSettings {
  std::size_t subset = 2000;                             // observations that parameters are fitted on, drawn when there are more
  int evaluations = 60;                                  // of the evidence, from each start
  std::vector<std::optional<double>> lengthscales = {};  // engine units; what is given is not fitted
  std::uint64_t seed = 1;
  int threads = 1;
};
Found fit_exact(const KernelSpec& spec, const GpData& data, const ExactSettings& settings, const std::string& where,
                const Control& control = {});

// `count` of n rows, drawn without replacement by a keyed stream, in ascending order; all of them where there are fewer.
std::vector<Eigen::Index> drawn_rows(Eigen::Index n, std::size_t count, std::uint64_t seed);

class ExactGp {
 public:
  // Throws Error and Stopped as factor() does.
  ExactGp(KernelSpec spec, GpParameters parameters, GpData data, const std::string& where, const Control& control = {});

  const GpParameters& parameters() const { return parameters_; }
  const GpData& data() const { return data_; }
  double jitter() const { return factor_.jitter; }

  // Of the field at points [dimensions, m]; the variance is without noise. m n extra memory.
  void predict(Points points, Eigen::Ref<Eigen::VectorXd> mean, Eigen::VectorXd* variance) const;

 private:
  Kernel kernel_;
  GpParameters parameters_;
  GpData data_;
  Factor factor_;
  Eigen::VectorXd weights_;  // K^-1 (y - m)
};

}  // namespace drift::gp
