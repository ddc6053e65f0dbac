// The nearest-neighbour Gaussian process: kriging as geostatisticians do it, from the observations near each point. On the sphere
// it takes Matérn's covariance of the chord, which can be joint with time and needs no table.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "baselines/gp_adapter.h"
#include "baselines/methods.h"
#include "core/threads.h"
#include "drift/grouped.h"
#include "gp/nearest.h"

namespace drift {
namespace {

constexpr std::size_t kBlock = 256;           // points predicted together
constexpr double kBytesPerObservation = 400;  // points four times over, trees, orders and cells

class NearestGpInterpolator : public Interpolator {
 public:
  NearestGpInterpolator(const MethodSettings& settings, const Domain& domain)
      : covariance_(covariance_settings(settings, domain, "joint")) {
    settings_.neighbours = settings.count("neighbours", 32, 1, 1000);
    settings_.subset = settings.count("subset", 4000, 10, 1000000);
    settings_.merge = settings.number("merge", 0.1, 0.0, 1.0);
    settings_.thinning.share = settings.number("thinned", 0.75, 0.0, 1.0);
    settings_.lengthscales = covariance_.lengthscales;
  }

  bool fit(const InterpolatorData& data, const InterpolatorControl& control) override {
    const std::size_t n = data.training.coordinates.rows;
    const auto k = static_cast<double>(settings_.neighbours);
    require_memory("nngp", n, kBytesPerObservation * static_cast<double>(n) + 8.0 * k * static_cast<double>(settings_.subset),
                   "train on fewer observations");
    settings_.threads = control.threads > 0 ? control.threads : available_threads();
    settings_.seed = control.seed;
    settings_.stop = control.stop;
    if (control.progress) settings_.progress = [&](double share) { control.progress(0.9 * share, "parameters"); };
    const gp::GpData observations = gp::in_place_order(gp_data("nngp", data, 3));
    const gp::KernelSpec spec = kernel_of(data, covariance_, true);
    const gp::Found found = gp::fit_nearest(spec, observations, settings_, "method nngp");
    settings_.progress = {};
    if (control.stop.stop_requested()) return false;
    if (control.progress) control.progress(0.9, "neighbours");
    dimensions_ = data.training.coordinates.cols;
    noise_variance_ = new_observation_variance(found.parameters, observations);
    gp_.emplace(spec, found.parameters, observations, settings_);
    if (control.progress) control.progress(1.0, "done");
    return true;
  }

  void predict(MatrixView<const float> points, const PointForecast& out) const override {
    predict_in_blocks("nngp", points, dimensions_, kBlock, settings_.threads, noise_variance_, out,
                      [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd&) {
                        gp_->predict(x, mean, variance);
                      });
  }

  bool knows_noise() const override { return true; }

  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override {
    auto out = parameter_findings(gp_->parameters(), domain);
    out.emplace_back("places", grouped(static_cast<double>(gp_->places())));
    return out;
  }

 private:
  CovarianceSettings covariance_;
  gp::NearestSettings settings_;
  std::size_t dimensions_ = 0;
  double noise_variance_ = 0.0;
  std::optional<gp::NearestGp> gp_;
};

}  // namespace

Method nearest_gp_method() {
  MethodInfo info{.name = "nngp",
                  .title = "Nearest-neighbour GP",
                  .summary = "kriging from the nearest observations (Vecchia 1988; Datta et al. 2016)",
                  .options = {{"neighbours", "observations that each prediction takes, 1 to 1000", "32"}}};
  for (const MethodOption& option : covariance_options("joint")) info.options.push_back(option);
  info.options.push_back({"subset", "conditionals in the likelihood that parameters are fitted by, 10 to 1000000", "4000"});
  info.options.push_back(
      {"merge", "side of a cell whose observations are taken together, in lengthscales, 0 (none) to 1", "0.1"});
  info.options.push_back(
      {"thinned", "share of the neighbours that lie further out, one a cell of 0.3 lengthscales, 0 to 1", "0.75"});
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<NearestGpInterpolator>(settings, domain);
          }};
}

}  // namespace drift
