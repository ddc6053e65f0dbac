#include "math/minimise.h"

#include <nlopt.h>

#include <cmath>
#include <exception>
#include <limits>
#include <memory>

namespace drift {
namespace {

constexpr double kHuge = 1e15;  // stands for a value that is not finite, which NLopt's line search cannot take

struct Search {
  const Differentiable* f = nullptr;
  Minimum best;
  Eigen::VectorXd gradient;
  std::exception_ptr error;  // must not pass through NLopt's C code
  nlopt_opt optimiser = nullptr;
};

double evaluate(unsigned count, const double* x, double* gradient, void* data) {
  Search& search = *static_cast<Search*>(data);
  try {
    const Eigen::VectorXd place = Eigen::Map<const Eigen::VectorXd>(x, count);
    search.gradient.setZero();
    const double value = (*search.f)(place, search.gradient);
    ++search.best.evaluations;
    const bool usable = std::isfinite(value) && search.gradient.allFinite();
    if (usable && value < search.best.value) {
      search.best.value = value;
      search.best.place = place;
    }
    if (gradient != nullptr) {
      for (unsigned i = 0; i < count; ++i) gradient[i] = usable ? search.gradient[i] : 0.0;
    }
    return usable ? value : kHuge;
  } catch (...) {
    search.error = std::current_exception();
    nlopt_force_stop(search.optimiser);
    return kHuge;
  }
}

}  // namespace

Minimum minimise(const Differentiable& f, const Eigen::VectorXd& start, const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                 int evaluations) {
  const auto count = static_cast<unsigned>(start.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(nlopt_create(NLOPT_LD_LBFGS, count), &nlopt_destroy);
  Eigen::VectorXd x = start.cwiseMax(low).cwiseMin(high);
  Search search;
  search.f = &f;
  search.best.place = x;
  search.best.value = std::numeric_limits<double>::infinity();
  search.gradient.resize(x.size());
  search.optimiser = optimiser.get();
  nlopt_set_min_objective(optimiser.get(), evaluate, &search);
  nlopt_set_lower_bounds(optimiser.get(), low.data());
  nlopt_set_upper_bounds(optimiser.get(), high.data());
  nlopt_set_maxeval(optimiser.get(), evaluations);
  nlopt_set_ftol_rel(optimiser.get(), 1e-9);
  nlopt_set_ftol_abs(optimiser.get(), 1e-9);
  double value = 0.0;
  nlopt_optimize(optimiser.get(), x.data(), &value);  // ends early when rounding stops its line search: the best seen stands
  if (search.error) std::rethrow_exception(search.error);
  return search.best;
}

}  // namespace drift
