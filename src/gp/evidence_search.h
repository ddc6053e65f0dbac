#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "gp/gp_data.h"

namespace drift::gp {

// The parameters that make an evidence highest, by L-BFGS from a few starts inside a box, under weak priors.

// theta = [log lengthscales, log amplitude, log noise].
struct SearchBox {
  Eigen::VectorXd low, high;
  Eigen::VectorXd centre;    // of the normal priors
  Eigen::VectorXd prior_sd;  // of the logarithms
  std::vector<Eigen::VectorXd> starts;
  std::vector<bool> given;  // parameters that are not searched: low = high = start
};

// From the data's extent and spread: lengthscales between 1/1000 and 10 times the extent (standard deviation) of their
// coordinates, amplitude and noise around the standard deviation of the values. Lengthscales that are given stay.
SearchBox search_box(const KernelSpec& spec, const GpData& data, const std::vector<std::optional<double>>& lengthscales);

// f gives value, best mean and gradient of an evidence. Starts run side by side on `threads`.
using EvidenceFunction = std::function<double(const Eigen::VectorXd& theta, Eigen::VectorXd& gradient, double& mean)>;

struct Found {
  GpParameters parameters;
  double evidence = 0.0;  // without the priors
  int evaluations = 0;
};
// Throws Error with `where` when no place has an evidence, and Stopped at the next evaluation after a stop request.
Found search(const EvidenceFunction& f, const SearchBox& box, int evaluations, int threads, const std::string& where,
             const Control& control = {});

}  // namespace drift::gp
