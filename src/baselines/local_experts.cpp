// Local experts as the paper runs GPSat: a Gaussian process every 200 km, from the observations within 300 km of it. On the
// sphere distances and Matérn's covariance are those of the chord.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

#include "baselines/gp_adapter.h"
#include "baselines/gp_state.h"
#include "baselines/methods.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "gp/experts.h"
#include "gp/nearest_choice.h"

namespace drift {
namespace {

constexpr std::size_t kExpertsBlock = 2048;  // points predicted together: each expert's share of them is one product
constexpr double kSpacing = 200.0;           // the paper's
constexpr double kMostPlaces = 1000;         // of experts where no spacing is given
constexpr double kExtents = 8.0;             // spacings along the observations' longer side, at least
constexpr std::size_t kChoiceNeighbours = 64;

double chord(double angle) { return 2.0 * std::sin(0.5 * std::min(angle, std::numbers::pi)); }

class LocalExpertsInterpolator : public Interpolator {
 public:
  LocalExpertsInterpolator(const MethodSettings& settings, const Domain& domain)
      : domain_(domain), covariance_(covariance_settings(settings, domain, "joint")), given_(settings) {
    settings_.inducing = settings.count("inducing", 500, 0, 10000);
    settings_.max_observations = settings.count("max_observations", settings_.inducing > 0 ? 10000 : 500, 10, 100000);
    settings_.fit_observations = settings_.inducing > 0 ? 500 : settings_.max_observations;
    settings_.lengthscales = covariance_.lengthscales;
    set_lengths(settings.number("spacing", kSpacing, 1e-6, 1e9));  // so that what cannot be is refused at once
  }

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override {
    settings_.threads = threads_or_all(options.threads);
    settings_.seed = options.seed;
    settings_.describe = [this](const Eigen::VectorXd& place) { return describe(place); };
    observations_ = gp_data("experts", data, 20);
    spacing_ = chosen_spacing(data.space);
    set_lengths(spacing_);
    foresee_memory(observations_, gp::expert_place_count(observations_, data.space, settings_.spacing));
    if (!covariance_.nu_given) choose_smoothness(data, options.seed, control.part(0.0, 0.2));
    const Eigen::MatrixXd places = gp::expert_places(observations_, data.space, data.space_coordinates, settings_.spacing);
    mixture_.emplace(kernel_of(data, covariance_, true), observations_, places, settings_, "method experts",
                     control.part(0.2, 1.0));
  }

  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override {
    const bool spread = !out.sd_epistemic.empty() || !out.sd_total.empty();
    const int threads = workers.threads > 0 ? workers.threads : settings_.threads;
    predict_in_blocks("experts", points, static_cast<std::size_t>(observations_.points.rows()), kExpertsBlock, threads, 0.0, out,
                      [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd& noise) {
                        mixture_->predict(x, mean, spread ? &variance : nullptr, noise);
                      });
  }

  // Observations, and of each expert its place, rows and parameters: "places" [experts, space], "fitted" and "smoothed"
  // [experts, parameters and mean], "rows" of all of them one after the other, and "row_counts" [experts].
  void save(State& state) const override {
    put_observations(state, observations_);
    state.put("nu", covariance_.nu);
    state.put("spacing", spacing_);
    state.put("reach", settings_.reach);
    state.put("inducing", static_cast<double>(settings_.inducing));
    state.put("fit_observations", static_cast<double>(settings_.fit_observations));
    const std::size_t experts = mixture_->experts();
    std::vector<double> places, fitted, smoothed;
    std::vector<std::int64_t> rows, counts;
    const auto add = [](const gp::GpParameters& parameters, std::vector<double>& to) {
      const Eigen::VectorXd packed = parameters.packed();
      to.insert(to.end(), packed.begin(), packed.end());
      to.push_back(parameters.mean);
    };
    for (std::size_t i = 0; i < experts; ++i) {
      const gp::ExpertRecord& record = mixture_->record(i);
      places.insert(places.end(), record.place.begin(), record.place.end());
      add(record.fitted, fitted);
      add(record.smoothed, smoothed);
      rows.insert(rows.end(), record.rows.begin(), record.rows.end());
      counts.push_back(static_cast<std::int64_t>(record.rows.size()));
    }
    if (experts == 0) throw UsageError("method experts: fit it before saving it");
    const std::size_t width = fitted.size() / experts, space = places.size() / experts, all = rows.size();
    state.put("places", {experts, space}, std::move(places));
    state.put("fitted", {experts, width}, std::move(fitted));
    state.put("smoothed", {experts, width}, std::move(smoothed));
    state.put("rows", {all}, std::move(rows));
    state.put("row_counts", {experts}, std::move(counts));
  }

  void restore(const State& state, const Domain& domain) override {
    observations_ = observations_of(state, domain);
    const auto dimensions = static_cast<std::size_t>(observations_.points.rows());
    covariance_.nu = smoothness_of(state);
    spacing_ = state.number("spacing", 1e-6, 1e9);
    set_lengths(spacing_);
    settings_.reach = state.number("reach", 1e-12, 1e12);
    settings_.inducing = state.count("inducing", 0, 10000);
    settings_.fit_observations = state.count("fit_observations", 1, 100000);
    settings_.threads = available_threads();
    settings_.describe = [this](const Eigen::VectorXd& place) { return describe(place); };
    const gp::KernelSpec spec = kernel_of(domain, has_time(domain, dimensions), covariance_, true);
    const std::vector<gp::ExpertRecord> records = records_of(state, spec);
    foresee_memory(observations_, static_cast<double>(records.size()));
    mixture_.emplace(spec, observations_, records, settings_, "method experts");
  }

  std::vector<double> lengthscales() const override { return lengthscales_of(mixture_->typical().kernel); }
  bool knows_noise() const override { return true; }

  // Those of the parameters are geometric means over experts.
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override {
    auto out = parameter_findings(mixture_->typical(), domain);
    out.emplace_back("nu", fmt::format("{:g}", covariance_.nu));
    out.emplace_back("spacing", fmt::format("{:.4g} {}", spacing_, domain.unit));
    out.emplace_back("experts", grouped(static_cast<double>(mixture_->experts())));
    return out;
  }

 private:
  // In the engine's units; on the sphere chords of angles, but the spacing, which is an angle.
  void set_lengths(double spacing) {
    const auto length = [&](double given) {
      const double engine = lengthscale_to_engine(domain_, given);
      return domain_.kind == DomainKind::sphere ? chord(engine) : engine;
    };
    settings_.spacing = lengthscale_to_engine(domain_, spacing);
    settings_.radius = length(given_.number("radius", 1.5 * spacing, 1e-6, 1e9));
    settings_.reach = length(given_.number("reach", 1.2 * spacing, 1e-6, 1e9));
    settings_.smoothing = length(given_.number("smoothing", spacing, 0.0, 1e9));
  }

  // In the domain's unit: that of the paper, but narrower for small regions (Heaton's contest, 420 km wide: RMSE 1.78 with 50
  // km, 2.23 with 200 km), and wider where there would be more places than can be waited for.
  double chosen_spacing(Space space) const {
    double spacing = given_.number("spacing", kSpacing, 1e-6, 1e9);
    if (given_.has("spacing")) return spacing;
    if (space == Space::plane) {
      const auto x = observations_.points.topRows(2);
      const double side = (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).maxCoeff();
      if (side > 0.0) spacing = std::min(spacing, lengthscale_from_engine(domain_, side) / kExtents);
    }
    while (gp::expert_place_count(observations_, space, lengthscale_to_engine(domain_, spacing)) > kMostPlaces) spacing *= 1.1;
    return spacing;
  }

  // By folds left out, as nngp has it (gp/nearest_choice.h): experts of each smoothness would take three times as long.
  void choose_smoothness(const InterpolatorData& data, std::uint64_t seed, const Control& control) {
    const gp::NearestSettings nearest = {.neighbours = kChoiceNeighbours,
                                         .subset = 4000,
                                         .lengthscales = covariance_.lengthscales,
                                         .seed = seed,
                                         .threads = settings_.threads};
    const auto spec_of = [&](double nu) {
      CovarianceSettings own = covariance_;
      own.nu = nu;
      return kernel_of(data, own, true);
    };
    covariance_.nu =
        gp::choose_nearest(spec_of, observations_, nearest, {.mean = {gp::MeanKind::local}, .neighbours = {kChoiceNeighbours}},
                           "method experts", control)
            .nu;
  }

  std::vector<gp::ExpertRecord> records_of(const State& state, const gp::KernelSpec& spec) const {
    const std::size_t experts = state.shape("places", 2)[0], width = static_cast<std::size_t>(spec.lengthscales) + 3;
    const auto space = static_cast<std::size_t>(space_coordinates(domain_));
    const std::span<const double> places = state.tensor<double>("places", {experts, space});
    const std::span<const double> fitted = state.tensor<double>("fitted", {experts, width});
    const std::span<const double> smoothed = state.tensor<double>("smoothed", {experts, width});
    const std::span<const std::int64_t> rows = state.tensor<std::int64_t>("rows", {State::kAny});
    const std::span<const std::int64_t> counts = state.tensor<std::int64_t>("row_counts", {experts});
    const auto vector = [](std::span<const double> numbers) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size())));
    };
    const auto parameters = [&](std::span<const double> numbers) {
      for (const double number : numbers) {
        if (std::abs(number) > 300.0) throw Error("an expert's parameters in the method's state are out of range");
      }
      return gp::GpParameters::unpacked(vector(numbers.first(width - 1)), numbers[width - 1]);
    };
    std::vector<gp::ExpertRecord> out;
    std::size_t first = 0;
    for (std::size_t i = 0; i < experts; ++i) {
      if (counts[i] < 1 || static_cast<std::uint64_t>(counts[i]) > rows.size() - first)
        throw Error("the experts' rows in the method's state are not as many as their counts");
      const auto count = static_cast<std::size_t>(counts[i]);
      const std::span<const std::int64_t> own = rows.subspan(first, count);
      out.push_back({.place = vector(places.subspan(i * space, space)),
                     .rows = {own.begin(), own.end()},
                     .fitted = parameters(fitted.subspan(i * width, width)),
                     .smoothed = parameters(smoothed.subspan(i * width, width))});
      first += count;
    }
    return out;
  }

  std::string describe(const Eigen::VectorXd& place) const {
    double lon = 0.0;
    double lat = 0.0;
    const std::vector<double> row(place.begin(), place.end());
    positions_of_rows(domain_, {row.data(), 1, row.size()}, {&lon, 1}, {&lat, 1});
    if (domain_.kind == DomainKind::xy) return fmt::format("x {:.4g}, y {:.4g} {}", lon, lat, domain_.unit);
    return fmt::format("{:.2f} degrees east, {:.2f} degrees north", lon, lat);
  }

  void foresee_memory(const gp::GpData& data, double places) const {
    const auto n = std::min(static_cast<double>(settings_.max_observations), static_cast<double>(data.size()));
    const auto m = std::min(n, static_cast<double>(settings_.inducing));
    const auto fitted = std::min(n, static_cast<double>(settings_.fit_observations));
    const double expert = m > 0.0 ? std::max(2.0 * m * m, fitted * fitted) : n * n;               // its factors
    const double at_work = m > 0.0 ? std::max(5.0 * m * n, 3.0 * fitted * fitted) : 3.0 * n * n;  // a thread, while it fits
    require_memory("experts", static_cast<std::size_t>(data.size()), 8.0 * (places * expert + settings_.threads * at_work),
                   fmt::format("its {:.0f} places hold a factor each: give a larger spacing or fewer max_observations", places));
  }

  Domain domain_;
  CovarianceSettings covariance_;
  MethodSettings given_;
  gp::ExpertSettings settings_;
  gp::GpData observations_;
  double spacing_ = kSpacing;  // in the domain's unit
  std::optional<gp::ExpertMixture> mixture_;
};

}  // namespace

Method local_experts_method() {
  MethodInfo info{
      .name = "experts",
      .title = "Local GP experts",
      .summary = "local Gaussian processes blended by distance, as in GPSat",
      .source = "Gregory et al. 2024",
      .options = {
          {"spacing",
           "of the experts, in the domain's unit; if not given, an eighth of a small region, and wider than 200 where "
           "there would be over "
           "1,000",
           "200"},
          {"radius", "radius within which an expert uses observations, in the domain's unit", "1.5 spacings"},
          {"reach", "radius beyond which an expert does not predict, in the domain's unit", "1.2 spacings"},
          {"max_observations", "maximum number of observations per expert, drawn at random if there are more, 10 to 100000",
           "10000; 500 if exact"},
          {"inducing",
           "points of an expert with more than 500 observations (Titsias 2009), 0 (all are exact) to 10000; parameters "
           "come from 500 of its observations",
           "500"},
          {"smoothing", "of the experts' parameters, standard deviation in the domain's unit, 0: none", "a spacing"}}};
  for (const MethodOption& option : covariance_options("joint", "data")) info.options.push_back(option);
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<LocalExpertsInterpolator>(settings, domain);
          }};
}

}  // namespace drift
