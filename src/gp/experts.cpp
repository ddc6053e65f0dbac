#include "gp/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>
#include <variant>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "gp/evidence.h"
#include "gp/exact.h"
#include "gp/nearest_neighbours.h"
#include "gp/sgpr.h"
#include "gp/variational_layer_tasks.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kExpertPriorSd = 1.5;  // of an expert's log parameters around those of all observations
constexpr double kLeastWeight = 1e-4;   // below which the prior comes in
constexpr std::size_t kStart = 500;     // observations of the process that all experts start from

}  // namespace

struct ExpertMixture::Expert : ExpertRecord {
  std::variant<std::monostate, ExactGp, SgprGp> gp;

  // Its rows are in a drawn order: the first of them are as good as any.
  std::vector<Index> first(std::size_t count) const {
    return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows.size()))};
  }
};

namespace {

// Of the square lattice: its number of points along each axis.
Eigen::Array2d lattice_counts(const GpData& data, double spacing) {
  const VectorXd extent = data.points.topRows(2).rowwise().maxCoeff() - data.points.topRows(2).rowwise().minCoeff();
  return (extent.array() / spacing).round() + 1.0;
}

}  // namespace

double expert_place_count(const GpData& data, Space space, double spacing) {
  if (space == Space::sphere) return std::ceil(4.0 * std::numbers::pi / (spacing * spacing));
  return lattice_counts(data, spacing).prod();
}

MatrixXd expert_places(const GpData& data, Space space, int space_coordinates, double spacing) {
  const MatrixXd x = data.points.topRows(space_coordinates);
  std::vector<VectorXd> places;
  if (space == Space::sphere) {
    const auto n = static_cast<int>(expert_place_count(data, space, spacing));
    const double golden = std::numbers::pi * (3.0 - std::sqrt(5.0));
    for (int i = 0; i < n; ++i) {
      const double height = 1.0 - (2.0 * i + 1.0) / n;
      const double radius = std::sqrt(1.0 - height * height);
      places.emplace_back(Eigen::Vector3d(radius * std::cos(golden * i), radius * std::sin(golden * i), height));
    }
  } else {
    // Centred, so that the lattice does not favour an edge.
    const VectorXd low = x.rowwise().minCoeff();
    const VectorXd high = x.rowwise().maxCoeff();
    const Eigen::Array2i count = lattice_counts(data, spacing).cast<int>();
    const Eigen::Array2d first = 0.5 * (low + high).head(2).array() - 0.5 * spacing * (count - 1).cast<double>();
    for (int j = 0; j < count[1]; ++j) {
      for (int i = 0; i < count[0]; ++i) places.emplace_back(Eigen::Vector2d(first[0] + i * spacing, first[1] + j * spacing));
    }
  }
  MatrixXd out(space_coordinates, static_cast<Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) out.col(static_cast<Index>(i)) = places[i];
  return out;
}

namespace {

std::string place_text(const ExpertSettings& settings, const VectorXd& place) {
  if (settings.describe) return settings.describe(place);
  return fmt::format("({:.4g})", fmt::join(place.begin(), place.end(), ", "));
}

// All the rows within a radius, or as many as are wanted of them, in an order drawn by the expert's key.
std::vector<Index> drawn_within(std::vector<Index> rows, std::size_t count, std::uint64_t seed, std::uint32_t expert) {
  std::sort(rows.begin(), rows.end());
  RandomStream random({.seed = seed, .purpose = Purpose::split}, expert);
  const std::size_t kept = std::min(count, rows.size());
  for (std::size_t i = 0; i < kept; ++i) {
    const auto left = static_cast<double>(rows.size() - i);
    std::swap(rows[i], rows[i + static_cast<std::size_t>(random.uniform() * left)]);
  }
  rows.resize(kept);
  return rows;
}

// work(i) for every expert, whoever comes first takes the next; progress by one thread at a time.
void for_all(std::size_t count, int threads, const Control& control, const std::function<void(std::size_t)>& work) {
  std::size_t done = 0;
  std::mutex mutex;
  run_tasks(threads, count, [&](std::size_t i) {
    if (control.stop.stop_requested()) return;
    work(i);
    const std::scoped_lock lock(mutex);
    ++done;
    control.report(static_cast<double>(done) / static_cast<double>(count), "experts");
  });
  control.check_stop();
}

}  // namespace

ExpertMixture::~ExpertMixture() = default;
ExpertMixture::ExpertMixture(ExpertMixture&&) noexcept = default;
ExpertMixture& ExpertMixture::operator=(ExpertMixture&&) noexcept = default;

ExpertMixture::ExpertMixture(KernelSpec spec, const GpData& data, const MatrixXd& places, const ExpertSettings& settings,
                             const std::string& method, const Control& control)
    : spec_(std::move(spec)), reach_(settings.reach), space_coordinates_(places.rows()) {
  describe_prior(data);
  const NeighbourTree tree(data.points.topRows(space_coordinates_));
  std::vector<Index> near;
  for (Index i = 0; i < places.cols(); ++i) {
    tree.within(places.col(i).data(), settings.radius, near);
    if (near.size() < std::max<std::size_t>(3, settings.least_observations)) continue;
    auto expert = std::make_unique<Expert>();
    expert->place = places.col(i);
    expert->rows = drawn_within(near, settings.max_observations, settings.seed, static_cast<std::uint32_t>(i));
    experts_.push_back(std::move(expert));
  }
  if (experts_.empty()) {
    throw Error(fmt::format("{}: none of {} places has {} observations around it; give a larger radius", method, places.cols(),
                            settings.least_observations));
  }
  fit_experts(data, settings, method, control.part(0.0, 0.9));
  smooth_parameters(settings.smoothing);
  make_predictors(data, settings, method, control.part(0.9, 1.0));
}

ExpertMixture::ExpertMixture(KernelSpec spec, const GpData& data, const std::vector<ExpertRecord>& records,
                             const ExpertSettings& settings, const std::string& method)
    : spec_(std::move(spec)), reach_(settings.reach) {
  describe_prior(data);
  for (const ExpertRecord& record : records) {
    const bool inside =
        std::all_of(record.rows.begin(), record.rows.end(), [&](Index row) { return row >= 0 && row < data.size(); });
    const bool same_space = record.place.size() == records.front().place.size() && record.place.size() <= data.points.rows();
    if (!inside || record.rows.empty() || !same_space)
      throw Error(fmt::format("{}: an expert's observations are not among the {} that there are", method, data.size()));
    experts_.push_back(std::make_unique<Expert>());
    static_cast<ExpertRecord&>(*experts_.back()) = record;
  }
  if (experts_.empty()) throw Error(fmt::format("{}: there are no experts", method));
  space_coordinates_ = experts_.front()->place.size();
  make_predictors(data, settings, method, {});
}

void ExpertMixture::describe_prior(const GpData& data) {
  prior_mean_ = data.values.mean();
  prior_variance_ = (data.values.array() - prior_mean_).square().mean();
  if (data.known_variance.size() > 0) known_noise_ = data.known_variance.mean();
}

void ExpertMixture::fit_experts(const GpData& data, const ExpertSettings& settings, const std::string& method,
                                const Control& control) {
  const Found start = fit_exact(spec_, data,
                                {.subset = kStart,
                                 .evaluations = 40,
                                 .lengthscales = settings.lengthscales,
                                 .seed = settings.seed,
                                 .threads = settings.threads},
                                method, {.stop = control.stop});
  SearchBox box = search_box(spec_, data, settings.lengthscales);
  box.centre = start.parameters.packed();
  box.prior_sd.setConstant(kExpertPriorSd);
  box.starts = {box.centre};
  for_all(experts_.size(), settings.threads, control, [&](std::size_t i) {
    Expert& expert = *experts_[i];
    const GpData own = subset(data, expert.first(settings.fit_observations));
    const auto evidence = [&](const VectorXd& theta, VectorXd& gradient, double& mean) {
      Evidence e = log_evidence(spec_, own, theta, std::nullopt, true);
      gradient = std::move(e.gradient);
      mean = e.mean;
      return e.value;
    };
    const std::string where = fmt::format("{}, expert at {}", method, place_text(settings, expert.place));
    expert.fitted = search(evidence, box, settings.evaluations, 1, where, {.stop = control.stop}).parameters;
  });
}

void ExpertMixture::smooth_parameters(double width) {
  for (const auto& expert : experts_) {
    expert->smoothed = expert->fitted;
    if (width <= 0.0) continue;
    VectorXd sum = VectorXd::Zero(expert->fitted.packed().size());
    double weights = 0.0;
    for (const auto& other : experts_) {
      const double z = (other->place - expert->place).squaredNorm() / (width * width);
      if (z > 50.0) continue;
      sum += std::exp(-0.5 * z) * other->fitted.packed();
      weights += std::exp(-0.5 * z);
    }
    expert->smoothed = GpParameters::unpacked(sum / weights, expert->fitted.mean);
  }
}

void ExpertMixture::make_predictors(const GpData& data, const ExpertSettings& settings, const std::string& method,
                                    const Control& control) {
  for_all(experts_.size(), settings.threads, control, [&](std::size_t i) {
    Expert& expert = *experts_[i];
    GpData own = subset(data, expert.rows);
    const std::string where = fmt::format("{}, expert at {}", method, place_text(settings, expert.place));
    const VectorXd theta = expert.smoothed.packed();
    if (settings.inducing > 0 && expert.rows.size() > std::max(settings.inducing, settings.fit_observations)) {
      const MatrixXd inducing = own.points.leftCols(static_cast<Index>(settings.inducing));
      expert.smoothed.mean = sgpr_bound(spec_, own, inducing, theta, std::nullopt, false).mean;
      expert.gp = SgprGp(spec_, expert.smoothed, own, inducing, where);
    } else {
      expert.smoothed.mean = log_evidence(spec_, own, theta, std::nullopt, false).mean;
      expert.gp = ExactGp(spec_, expert.smoothed, std::move(own), where);
    }
  });
}

const ExpertRecord& ExpertMixture::record(std::size_t expert) const { return *experts_[expert]; }
VectorXd ExpertMixture::place(std::size_t expert) const { return experts_[expert]->place; }
const GpParameters& ExpertMixture::fitted(std::size_t expert) const { return experts_[expert]->fitted; }
const GpParameters& ExpertMixture::smoothed(std::size_t expert) const { return experts_[expert]->smoothed; }

GpParameters ExpertMixture::typical() const {
  VectorXd sum = VectorXd::Zero(experts_[0]->smoothed.packed().size());
  double mean = 0.0;
  for (const auto& expert : experts_) {
    sum += expert->smoothed.packed();
    mean += expert->smoothed.mean;
  }
  const auto n = static_cast<double>(experts_.size());
  return GpParameters::unpacked(sum / n, mean / n);
}

namespace {

// Sums over experts at m points.
struct Blend {
  VectorXd weight, mean, square, noise;  // square: of w (v + m^2)

  explicit Blend(Index m)
      : weight(VectorXd::Zero(m)), mean(VectorXd::Zero(m)), square(VectorXd::Zero(m)), noise(VectorXd::Zero(m)) {}

  void add(Index p, double w, double expert_mean, double expert_variance, double expert_noise) {
    weight[p] += w;
    mean[p] += w * expert_mean;
    square[p] += w * (expert_variance + expert_mean * expert_mean);
    noise[p] += w * expert_noise;
  }

  // The prior takes what is missing of the least weight.
  void finish(double prior_mean, double prior_variance, double prior_noise) {
    for (Index p = 0; p < weight.size(); ++p) {
      const double missing = kLeastWeight - weight[p];
      if (missing > 0.0) add(p, missing, prior_mean, prior_variance, prior_noise);
    }
    mean = mean.cwiseQuotient(weight);
    square = square.cwiseQuotient(weight);
    noise = noise.cwiseQuotient(weight);
  }
};

}  // namespace

void ExpertMixture::predict(Points points, VectorXd& mean, VectorXd* variance, VectorXd& noise) const {
  Blend blend(points.cols());
  std::vector<Index> rows;
  std::vector<double> weights;
  for (const auto& expert : experts_) {
    rows.clear();
    weights.clear();
    for (Index p = 0; p < points.cols(); ++p) {
      const double d = (points.col(p).head(space_coordinates_) - expert->place).squaredNorm() / (reach_ * reach_);
      if (d >= 1.0) continue;
      rows.push_back(p);
      weights.push_back(std::pow(1.0 - d, 4));
    }
    if (rows.empty()) continue;
    const MatrixXd x = points(Eigen::all, rows);
    VectorXd own_mean(x.cols());
    VectorXd own_variance = VectorXd::Zero(x.cols());
    VectorXd* wanted = variance != nullptr ? &own_variance : nullptr;
    if (const auto* exact = std::get_if<ExactGp>(&expert->gp)) exact->predict(x, own_mean, wanted);
    if (const auto* sparse = std::get_if<SgprGp>(&expert->gp)) sparse->predict(x, own_mean, wanted);
    const double own_noise = expert->smoothed.noise_variance() + known_noise_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto k = static_cast<Index>(i);
      blend.add(rows[i], weights[i], own_mean[k], own_variance[k], own_noise);
    }
  }
  blend.finish(prior_mean_, prior_variance_, typical().noise_variance() + known_noise_);
  mean = blend.mean;
  noise = blend.noise;
  if (variance != nullptr) *variance = (blend.square.array() - mean.array().square()).max(0.0);
}

}  // namespace drift::gp
