// Local experts as the paper runs GPSat: a Gaussian process every 200 km, from the observations within 300 km of it. On the
// sphere distances and Matérn's covariance are those of the chord.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

#include "baselines/gp_adapter.h"
#include "baselines/methods.h"
#include "core/threads.h"
#include "drift/grouped.h"
#include "gp/experts.h"

namespace drift {
namespace {

constexpr std::size_t kBlock = 2048;  // points predicted together: each expert's share of them is one product

double chord(double angle) { return 2.0 * std::sin(0.5 * std::min(angle, std::numbers::pi)); }

class LocalExpertsInterpolator : public Interpolator {
 public:
  LocalExpertsInterpolator(const MethodSettings& settings, const Domain& domain)
      : domain_(domain), covariance_(covariance_settings(settings, domain, "joint")) {
    const bool sphere = domain.kind == DomainKind::sphere;
    const auto length = [&](double km) {
      const double engine = lengthscale_to_engine(domain, km);
      return sphere ? chord(engine) : engine;
    };
    const double spacing = settings.number("spacing", 200.0, 1e-6, 1e9);
    settings_.spacing = lengthscale_to_engine(domain, spacing);
    settings_.radius = length(settings.number("radius", 1.5 * spacing, 1e-6, 1e9));
    settings_.reach = length(settings.number("reach", 1.2 * spacing, 1e-6, 1e9));
    settings_.smoothing = length(settings.number("smoothing", spacing, 0.0, 1e9));
    settings_.inducing = settings.count("inducing", 0, 0, 10000);
    settings_.max_observations = settings.count("max_observations", settings_.inducing > 0 ? 4000 : 500, 10, 100000);
    settings_.lengthscales = covariance_.lengthscales;
  }

  bool fit(const InterpolatorData& data, const InterpolatorControl& control) override {
    settings_.threads = control.threads > 0 ? control.threads : available_threads();
    settings_.seed = control.seed;
    settings_.stop = control.stop;
    if (control.progress) settings_.progress = [&](double share) { control.progress(share, "experts"); };
    settings_.describe = [this](const Eigen::VectorXd& place) { return describe(place); };
    const gp::GpData observations = gp_data("experts", data, 20);
    foresee_memory(observations, gp::expert_place_count(observations, data.space, settings_.spacing));
    const Eigen::MatrixXd places = gp::expert_places(observations, data.space, data.space_coordinates, settings_.spacing);
    mixture_.emplace(kernel_of(data, covariance_, true), observations, places, settings_, "method experts");
    settings_.progress = {};
    dimensions_ = data.training.coordinates.cols;
    return !mixture_->stopped();
  }

  void predict(MatrixView<const float> points, const PointForecast& out) const override {
    const bool spread = !out.sd_epistemic.empty() || !out.sd_total.empty();
    predict_in_blocks("experts", points, dimensions_, kBlock, settings_.threads, 0.0, out,
                      [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd& noise) {
                        mixture_->predict(x, mean, spread ? &variance : nullptr, noise);
                      });
  }

  bool knows_noise() const override { return true; }

  // Those of the parameters are geometric means over experts.
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override {
    auto out = parameter_findings(mixture_->typical(), domain);
    out.emplace_back("experts", grouped(static_cast<double>(mixture_->experts())));
    return out;
  }

 private:
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
    const double expert = m > 0.0 ? 2.0 * m * m : n * n;         // its factors
    const double at_work = m > 0.0 ? 5.0 * m * n : 3.0 * n * n;  // while it is fitted, a thread
    require_memory("experts", static_cast<std::size_t>(data.size()), 8.0 * (places * expert + settings_.threads * at_work),
                   fmt::format("its {:.0f} places hold a factor each: give a larger spacing or fewer max_observations", places));
  }

  Domain domain_;
  CovarianceSettings covariance_;
  gp::ExpertSettings settings_;
  std::size_t dimensions_ = 0;
  std::optional<gp::ExpertMixture> mixture_;
};

}  // namespace

Method local_experts_method() {
  MethodInfo info{
      .name = "experts",
      .title = "Local GP experts",
      .summary = "Gaussian processes of their own surroundings, blended by distance, as GPSat (Gregory et al. 2024)",
      .options = {{"spacing", "of the experts, in the domain's unit", "200"},
                  {"radius", "within which an expert sees observations, in the domain's unit", "1.5 spacings"},
                  {"reach", "beyond which an expert does not predict, in the domain's unit", "1.2 spacings"},
                  {"max_observations", "of an expert, drawn where there are more, 10 to 100000", "500; 4000 with inducing"},
                  {"inducing", "points of an expert (Titsias 2009), 0 (exact) to 10000", "0"},
                  {"smoothing", "of the experts' parameters, standard deviation in the domain's unit, 0: none", "a spacing"}}};
  for (const MethodOption& option : covariance_options("joint")) info.options.push_back(option);
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<LocalExpertsInterpolator>(settings, domain);
          }};
}

}  // namespace drift
