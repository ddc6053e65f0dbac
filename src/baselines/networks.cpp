#include "baselines/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "core/random.h"
#include "drift/error.h"
#include "drift/tune.h"

namespace drift {
namespace {

constexpr std::size_t kRuns = 50;     // of consecutive rows, for the search: pieces of tracks, whose errors belong together
constexpr std::size_t kHeldOut = 10;  // of them

// Rows of observations, copied.
struct RowSubset {
  std::vector<float> coordinates, values, weights;
  InterpolatorData data;

  RowSubset(const InterpolatorData& from, const std::vector<std::size_t>& rows) : data(from) {
    const MatrixView<const float> x = from.training.coordinates;
    for (const std::size_t row : rows) {
      coordinates.insert(coordinates.end(), x.row(row), x.row(row) + x.cols);
      values.push_back(from.training.values(row, 0));
      if (!from.training.weights.empty()) weights.push_back(from.training.weights[row]);
    }
    data.training = {{coordinates.data(), rows.size(), x.cols}, {values.data(), rows.size(), 1}, weights};
    data.noise_sd = {};
    data.track = {}, data.platform = {}, data.fold = {};
  }
  ~RowSubset() = default;
  RowSubset(const RowSubset&) = delete;
  RowSubset& operator=(const RowSubset&) = delete;
};

// Divides rows into training and held out: a fifth of the runs, drawn by the seed.
std::array<std::vector<std::size_t>, 2> split_by_runs(std::size_t rows, std::uint64_t seed) {
  std::array<std::size_t, kRuns> order;
  for (std::size_t i = 0; i < kRuns; ++i) order[i] = i;
  RandomStream random({.seed = seed, .purpose = Purpose::split});
  for (std::size_t i = kRuns; i-- > 1;) std::swap(order[i], order[random.bits() % (i + 1)]);
  std::array<bool, kRuns> held = {};
  for (std::size_t i = 0; i < kHeldOut; ++i) held[order[i]] = true;
  std::array<std::vector<std::size_t>, 2> parts;
  for (std::size_t row = 0; row < rows; ++row) parts[held[row * kRuns / rows] ? 1 : 0].push_back(row);
  return parts;
}

// The settings of Fourier features that are searched, in the engine's units, and where the search begins.
struct FourierSearch {
  SearchSpace space = {{.name = "lengthscale", .kind = SettingKind::log_real, .low = 0.01, .high = 3.0},
                       {.name = "amplitude", .kind = SettingKind::log_real, .low = 0.1, .high = 10.0}};
  Point usual;

  FourierSearch(const NetworkSpec& spec, bool time) {
    usual = {std::clamp(spec.spatial.lengthscales[0], 0.01, 3.0), std::clamp(spec.spatial.amplitude, 0.1, 10.0)};
    if (!time) return;
    space.push_back({.name = "time lengthscale", .kind = SettingKind::log_real, .low = 0.1, .high = 10.0});
    usual.push_back(std::clamp(spec.temporal.lengthscales[0], 0.1, 10.0));
  }
};

NetworkSpec with_point(NetworkSpec spec, const Point& point) {
  spec.spatial.lengthscales = {point[0]};
  spec.spatial.amplitude = point[1];
  if (point.size() > 2) spec.temporal.lengthscales = {point[2]};
  return spec;
}

double mean_square(std::span<const float> numbers) {
  double sum = 0.0;
  for (const float number : numbers) sum += static_cast<double>(number) * static_cast<double>(number);
  return sum / static_cast<double>(numbers.size());
}

}  // namespace

double density_lengthscale(Space space, std::size_t observations) {
  const double area = space == Space::sphere ? 4.0 * std::numbers::pi : 16.0;
  const double spacing = std::sqrt(area / static_cast<double>(std::max<std::size_t>(observations, 1)));
  return std::clamp(1.6 * std::sqrt(spacing), 0.1, 0.5);
}

NetworkSpec NetworkInterpolator::spec_for(const InterpolatorData& data) const {
  NetworkSpec spec = dense_spec(data.space, data.space_coordinates, data.has_time(), settings_.dense);
  spec.spatial.lengthscales = {settings_.lengthscale.value_or(density_lengthscale(data.space, data.training.values.rows))};
  spec.temporal.lengthscales = {settings_.time_lengthscale.value_or(1.0)};
  spec.spatial.amplitude = settings_.amplitude;
  spec.features = static_cast<int>(settings_.features);
  return spec;
}

// Weight decay is that of the paper: the noise's variance over the number of observations, where the noise is known.
EnsembleSettings NetworkInterpolator::ensemble_settings(const NetworkSpec& spec, const InterpolatorData& data) const {
  EnsembleSettings out{.method = settings_.method,
                       .spec = spec,
                       .recipe = settings_.recipe,
                       .members = settings_.members,
                       .least_steps = settings_.least_steps};
  if (data.given_noise_sd)
    out.recipe.noise_sd = *data.given_noise_sd;
  else if (!data.noise_sd.empty())
    out.recipe.noise_sd = std::sqrt(mean_square(data.noise_sd));
  return out;
}

double NetworkInterpolator::trial_error(const NetworkSpec& spec, const InterpolatorData& training,
                                        const InterpolatorData& held_out, const InterpolatorOptions& options,
                                        const Control& control) const {
  EnsembleSettings one = ensemble_settings(spec, training);
  one.members = 1;
  EnsembleInterpolator network(std::move(one));
  network.fit(training, options, control);
  const std::size_t n = held_out.training.values.rows;
  std::vector<double> mean(n);
  network.predict(held_out.training.coordinates, {.mean = mean});
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(mean[i] - static_cast<double>(held_out.training.values(i, 0)), 2);
  return std::sqrt(sum / static_cast<double>(n));
}

void NetworkInterpolator::search(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control,
                                 NetworkSpec& spec) const {
  const std::size_t n = data.training.values.rows;
  if (n < 2 * kRuns) {
    throw UsageError(fmt::format("method {}: {} observations are too few to search on; leave out trials", settings_.method, n));
  }
  const auto parts = split_by_runs(n, options.seed);
  const RowSubset training(data, parts[0]), held_out(data, parts[1]);
  const FourierSearch fourier(spec, data.has_time());
  const InterpolatorOptions on_cpu{.seed = options.seed, .threads = options.threads};
  const Control quiet{.stop = control.stop};
  const Study study =
      optimise(fourier.space,
               [&](const Point& point, std::uint64_t) {
                 return TrialOutcome{.value = trial_error(with_point(spec, point), training.data, held_out.data, on_cpu, quiet)};
               },
               {.seed = options.seed, .first = {fourier.usual}},
               {.trials = settings_.trials,
                .trial_done =
                    [&](const Study&, const Trial& trial) {
                      const auto trials = static_cast<double>(settings_.trials);
                      control.report(static_cast<double>(trial.number + 1) / trials, "search");
                    },
                .control = quiet});
  const auto best = best_trial(study);
  if (!best) throw Error(fmt::format("method {}: no trial of the search succeeded; lower rate", settings_.method));
  spec = with_point(spec, study.trials[*best].point);
}

void NetworkInterpolator::fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) {
  if (data.training.values.rows == 0) throw Error(fmt::format("method {}: there are no observations", settings_.method));
  spec_ = spec_for(data);
  // A trial is one network.
  const double searched = static_cast<double>(settings_.trials) / static_cast<double>(settings_.trials + settings_.members);
  if (settings_.trials > 0) search(data, options, control.part(0.0, searched), spec_);
  ensemble_ = std::make_unique<EnsembleInterpolator>(ensemble_settings(spec_, data));
  ensemble_->fit(data, options, control.part(searched, 1.0));
}

void NetworkInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const {
  if (ensemble_ == nullptr) throw UsageError(fmt::format("method {}: fit it before predicting", settings_.method));
  ensemble_->predict(points, out, workers);
}

void NetworkInterpolator::save(State& state) const {
  if (ensemble_ == nullptr) throw UsageError(fmt::format("method {}: fit it before saving it", settings_.method));
  ensemble_->save(state);
}

void NetworkInterpolator::restore(const State& state, const Domain& domain) {
  ensemble_ = std::make_unique<EnsembleInterpolator>(settings_.method, settings_.recipe);
  ensemble_->restore(state, domain);
  spec_ = ensemble_->ensemble().spec;
}

std::vector<std::pair<std::string, std::string>> NetworkInterpolator::findings(const Domain& domain) const {
  std::vector<std::pair<std::string, std::string>> out;
  if (ensemble_ == nullptr) return out;
  if (settings_.dense.input == DenseInput::fourier) {
    const double length = lengthscale_from_engine(domain, spec_.spatial.lengthscales[0]);
    out.emplace_back("lengthscale", fmt::format("{:.4g} {}", length, domain.unit));
    if (spec_.temporal.layers > 0) {
      const double days = time_lengthscale_from_engine(domain, spec_.temporal.lengthscales[0]);
      out.emplace_back("time lengthscale", fmt::format("{:.4g} days", days));
    }
    out.emplace_back("amplitude", fmt::format("{:.4g}", spec_.spatial.amplitude));
  }
  for (auto& finding : ensemble_->findings(domain)) out.push_back(std::move(finding));
  return out;
}

}  // namespace drift
