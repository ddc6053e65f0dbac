#include "gp/evidence_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/threads.h"
#include "drift/error.h"
#include "math/minimise.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// One standard deviation is a factor of 20: it holds a parameter only where the data say nothing of it.
constexpr double kPriorSd = 3.0;

double positive_or_one(double x) { return x > 0.0 && std::isfinite(x) ? x : 1.0; }

// Root of the summed variances of the coordinates that a lengthscale divides.
double extent_of(const KernelSpec& spec, const GpData& data, int lengthscale) {
  double sum = 0.0;
  for (const KernelPart& part : spec.parts) {
    for (int d = 0; d < part.count; ++d) {
      const bool sphere = part.space == Space::sphere;
      if (part.lengthscale_of[sphere ? 0 : static_cast<std::size_t>(d)] != lengthscale) continue;
      const auto row = data.points.row(part.first + d);
      sum += (row.array() - row.mean()).square().mean();
    }
  }
  return positive_or_one(std::sqrt(sum));
}

}  // namespace

SearchBox search_box(const KernelSpec& spec, const GpData& data, const std::vector<std::optional<double>>& lengthscales) {
  const Index q = spec.lengthscales;
  const double sd = positive_or_one(std::sqrt((data.values.array() - data.values.mean()).square().mean()));
  SearchBox box{.low = VectorXd(q + 2),
                .high = VectorXd(q + 2),
                .centre = VectorXd(q + 2),
                .prior_sd = VectorXd::Constant(q + 2, kPriorSd),
                .starts = {},
                .given = std::vector<bool>(static_cast<std::size_t>(q) + 2)};
  for (Index l = 0; l < q; ++l) {
    const double extent = extent_of(spec, data, static_cast<int>(l));
    box.low[l] = std::log(1e-3 * extent);
    box.high[l] = std::log(10.0 * extent);
    box.centre[l] = std::log(0.3 * extent);
    const auto i = static_cast<std::size_t>(l);
    if (i < lengthscales.size() && lengthscales[i]) {
      box.low[l] = box.high[l] = box.centre[l] = std::log(*lengthscales[i]);
      box.given[i] = true;
    }
  }
  box.low[q] = std::log(0.02 * sd);
  box.high[q] = std::log(50.0 * sd);
  box.centre[q] = std::log(sd);
  box.low[q + 1] = std::log(1e-3 * sd);
  box.high[q + 1] = std::log(3.0 * sd);
  box.centre[q + 1] = std::log(0.2 * sd);
  for (const double factor : {1.0, 0.2}) {  // of the lengthscales
    VectorXd start = box.centre;
    start.head(q).array() += std::log(factor);
    box.starts.emplace_back(start.cwiseMax(box.low).cwiseMin(box.high));
  }
  return box;
}

namespace {

// From one start. The parameters that are given are left out of the search.
Found search_from(const EvidenceFunction& f, const SearchBox& box, const VectorXd& start, int evaluations,
                  const Control& control) {
  std::vector<Index> free;
  for (Index i = 0; i < start.size(); ++i) {
    if (!box.given[static_cast<std::size_t>(i)]) free.push_back(i);
  }
  const auto pick = [&](const VectorXd& all) { return VectorXd(all(free)); };
  Found best;
  best.evidence = -std::numeric_limits<double>::infinity();
  double best_target = std::numeric_limits<double>::infinity();
  const auto target = [&](const VectorXd& x, VectorXd& gradient) {
    if (control.stop.stop_requested()) return best_target;  // with a gradient of zero: the search ends
    VectorXd theta = start;
    theta(free) = x;
    VectorXd evidence_gradient;
    double mean = 0.0;
    const double evidence = f(theta, evidence_gradient, mean);
    const VectorXd away = (theta - box.centre).cwiseQuotient(box.prior_sd);
    const double value = -evidence + 0.5 * away.squaredNorm();
    gradient = pick(-evidence_gradient + away.cwiseQuotient(box.prior_sd));
    if (value < best_target) {
      best_target = value;
      best.evidence = evidence;
      best.parameters = GpParameters::unpacked(theta, mean);
    }
    return value;
  };
  best.evaluations = minimise(target, pick(start), pick(box.low), pick(box.high), evaluations).evaluations;
  control.check_stop();
  best.evidence = std::isfinite(best_target) ? best.evidence : -std::numeric_limits<double>::infinity();
  return best;
}

}  // namespace

Found search(const EvidenceFunction& f, const SearchBox& box, int evaluations, int threads, const std::string& where,
             const Control& control) {
  const std::size_t count = box.starts.size();
  std::vector<Found> found(count);
  const int used = std::clamp(threads, 1, static_cast<int>(count));
  run_on_threads(used, [&](int thread) {
    for (auto i = static_cast<std::size_t>(thread); i < count; i += static_cast<std::size_t>(used)) {
      found[i] = search_from(f, box, box.starts[i], evaluations, control);
    }
  });
  Found best =
      *std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.evidence < b.evidence; });
  best.evaluations = 0;
  for (const Found& one : found) best.evaluations += one.evaluations;
  if (!std::isfinite(best.evidence)) {
    throw Error(
        fmt::format("{}: no lengthscale and noise gives these observations a finite evidence; give lengthscales, or look "
                    "for observations that repeat or are not finite",
                    where));
  }
  return best;
}

}  // namespace drift::gp
