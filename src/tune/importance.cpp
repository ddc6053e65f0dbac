#include <algorithm>
#include <cmath>

#include "drift/tune.h"
#include "tune/proposer.h"
#include "tune/space.h"
#include "tune/streams.h"

namespace drift {
namespace {

constexpr Eigen::Index kDraws = 4096;  // error of an index: about 0.01
constexpr std::size_t kFewest = 4;     // trials with a value

Eigen::MatrixXd draw_places(const Study& study, std::uint32_t which) {
  RandomStream random = tuning_stream(study.plan.seed, TuningStream::importance, which);
  Eigen::MatrixXd places(kDraws, static_cast<Eigen::Index>(study.space.size()));
  for (Eigen::Index i = 0; i < kDraws; ++i) {
    Eigen::VectorXd place(places.cols());
    for (double& unit : place) unit = random.uniform();
    places.row(i) = snap(study.space, place).transpose();
  }
  return places;
}

}  // namespace

// Sobol' indices of the posterior mean f over the cube, from two sets of draws A and B and A with column i of B, A_i:
//   main  = mean(f(B) (f(A_i) - f(A))) / var,        Saltelli et al. 2010, table 2 (b)
//   total = mean((f(A) - f(A_i))^2) / (2 var),       Jansen 1999, table 2 (f)
std::vector<Importance> importance(const Study& study) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : study.trials) trials.push_back(&trial);
  const auto valued = std::count_if(trials.begin(), trials.end(), [](const Trial* trial) { return trial->value.has_value(); });
  if (static_cast<std::size_t>(valued) < kFewest) return {};
  const std::optional<Surrogate> surrogate = surrogate_of(study, trials);
  if (!surrogate) return {};
  const Eigen::MatrixXd A = draw_places(study, 0);
  const Eigen::MatrixXd B = draw_places(study, 1);
  Eigen::ArrayXd f_a = surrogate->process.mean_at(A);
  Eigen::ArrayXd f_b = surrogate->process.mean_at(B);
  const double centre = 0.5 * (f_a.mean() + f_b.mean());
  f_a -= centre;
  f_b -= centre;
  const double variance = 0.5 * (f_a.square().mean() + f_b.square().mean());
  std::vector<Importance> result;
  for (std::size_t i = 0; i < study.space.size(); ++i) {
    Eigen::MatrixXd mixed = A;
    mixed.col(static_cast<Eigen::Index>(i)) = B.col(static_cast<Eigen::Index>(i));
    const Eigen::ArrayXd f_mixed = surrogate->process.mean_at(mixed).array() - centre;
    Importance entry{.name = study.space[i].name};
    if (variance > 0.0) {
      entry.main = std::clamp((f_b * (f_mixed - f_a)).mean() / variance, 0.0, 1.0);
      entry.total = std::clamp((f_a - f_mixed).square().mean() / (2.0 * variance), 0.0, 1.0);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace drift
