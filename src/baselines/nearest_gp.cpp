// The nearest-neighbour Gaussian process: kriging as geostatisticians do it, from the observations near each point. On the sphere
// it takes Matérn's covariance of the chord, which can be joint with time and needs no table. Parameters and
// smoothness are those that best predict folds left out, as a careful user would choose them (gp/nearest_choice.h).

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "baselines/gp_adapter.h"
#include "baselines/gp_state.h"
#include "baselines/methods.h"
#include "core/threads.h"
#include "drift/grouped.h"
#include "gp/nearest_choice.h"

namespace drift {
namespace {

constexpr std::size_t kNearestBlock = 256;  // points predicted together
constexpr std::size_t kFitNeighbours = 64;  // that parameters are fitted with
constexpr std::size_t kNeighbours =
    128;                         // that predictions take: waves 0.655 m against 0.657 m with 64, contest 1.69 and 1.78 °C
constexpr double kMerge = 0.02;  // in lengthscales: with 0.1 the contest's RMSE is 1.96, not 1.78 °C
constexpr double kBytesPerObservation = 400;  // points four times over, trees, orders and cells

class NearestGpInterpolator : public Interpolator {
 public:
  NearestGpInterpolator(const MethodSettings& settings, const Domain& domain)
      : covariance_(covariance_settings(settings, domain, "joint")) {
    candidates_.neighbours = {settings.count("neighbours", kNeighbours, 1, 1000)};
    settings_.neighbours = settings.count("neighbours", kFitNeighbours, 1, 1000);
    settings_.subset = settings.count("subset", 4000, 10, 1000000);
    settings_.merge = settings.number("merge", kMerge, 0.0, 1.0);
    settings_.thinning.share = settings.number("thinned", 0.75, 0.0, 1.0);
    settings_.lengthscales = covariance_.lengthscales;
    settings_.mean = mean_of_word(settings.word("mean", "local", {"global", "local"}));
    candidates_.mean = {settings_.mean};
    if (covariance_.nu_given) candidates_.nu = {covariance_.nu};
  }

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override {
    const std::size_t n = data.training.coordinates.rows;
    const auto k = static_cast<double>(settings_.neighbours);
    require_memory("nngp", n, kBytesPerObservation * static_cast<double>(n) + 8.0 * k * static_cast<double>(settings_.subset),
                   "train on fewer observations");
    settings_.threads = threads_or_all(options.threads);
    settings_.seed = options.seed;
    observations_ = gp::in_place_order(gp_data("nngp", data, 3));
    const auto spec_of = [&](double nu) {
      CovarianceSettings own = covariance_;
      own.nu = nu;
      return kernel_of(data, own, true);
    };
    const gp::NearestChoice choice =
        gp::choose_nearest(spec_of, observations_, settings_, candidates_, "method nngp", control.part(0.0, 0.9));
    control.report(0.9, "neighbours");
    covariance_.nu = choice.nu;
    settings_.neighbours = choice.neighbours;
    settings_.mean = choice.mean;
    make(spec_of(choice.nu), choice.found.parameters);
    control.check_stop();
    control.report(1.0, "done");
  }

  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override {
    const int threads = workers.threads > 0 ? workers.threads : settings_.threads;
    predict_in_blocks("nngp", points, static_cast<std::size_t>(observations_.points.rows()), kNearestBlock, threads,
                      noise_variance_, out,
                      [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd&) {
                        gp_->predict(x, mean, variance);
                      });
  }

  // All that predictions depend on, also what the text gives: another version may have other defaults.
  void save(State& state) const override {
    put_observations(state, observations_);
    put_parameters(state, gp_->parameters());
    state.put("nu", covariance_.nu);
    state.put("neighbours", static_cast<double>(settings_.neighbours));
    state.put("local_mean", settings_.mean == gp::MeanKind::local ? 1.0 : 0.0);
    state.put("merge", settings_.merge);
    state.put("thinned", settings_.thinning.share);
    state.put("seed", static_cast<double>(settings_.seed));
  }

  void restore(const State& state, const Domain& domain) override {
    observations_ = observations_of(state, domain);
    covariance_.nu = smoothness_of(state);
    settings_.neighbours = state.count("neighbours", 1, 1000);
    settings_.mean = state.count("local_mean", 0, 1) == 1 ? gp::MeanKind::local : gp::MeanKind::global;
    settings_.merge = state.number("merge", 0.0, 1.0);
    settings_.thinning.share = state.number("thinned", 0.0, 1.0);
    settings_.seed = state.count("seed", 0, std::size_t{1} << 53U);
    settings_.threads = available_threads();
    const gp::KernelSpec spec =
        kernel_of(domain, has_time(domain, static_cast<std::size_t>(observations_.points.rows())), covariance_, true);
    make(spec, parameters_of(state, spec));
  }

  std::vector<double> lengthscales() const override { return lengthscales_of(gp_->parameters().kernel); }
  bool knows_noise() const override { return true; }

  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override {
    auto out = parameter_findings(gp_->parameters(), domain);
    out.emplace_back("nu", fmt::format("{:g}", covariance_.nu));
    out.emplace_back("neighbours", fmt::format("{}, {} mean", settings_.neighbours,
                                               settings_.mean == gp::MeanKind::local ? "local" : "global"));
    out.emplace_back("places", grouped(static_cast<double>(gp_->places())));
    return out;
  }

 private:
  static gp::MeanKind mean_of_word(const std::string& word) {
    return word == "local" ? gp::MeanKind::local : gp::MeanKind::global;
  }

  void make(const gp::KernelSpec& spec, const gp::GpParameters& parameters) {
    noise_variance_ = new_observation_variance(parameters, observations_);
    gp_.emplace(spec, parameters, observations_, settings_);
  }

  CovarianceSettings covariance_;
  gp::NearestSettings settings_;
  gp::NearestCandidates candidates_;
  gp::GpData observations_;
  double noise_variance_ = 0.0;
  std::optional<gp::NearestGp> gp_;
};

}  // namespace

Method nearest_gp_method() {
  MethodInfo info{.name = "nngp",
                  .title = "Nearest-neighbour GP",
                  .summary = "kriging from the nearest observations",
                  .source = "Vecchia 1988; Datta et al. 2016",
                  .options = {{"neighbours", "observations per prediction, 1 to 1000", "128"},
                              {"mean", "mean: of all observations (global) or of each neighbourhood (local)", "local"}}};
  for (const MethodOption& option : covariance_options("joint", "data")) info.options.push_back(option);
  info.options.push_back({"subset", "conditionals in the likelihood to which the parameters are fitted, 10 to 1000000", "4000"});
  info.options.push_back({"merge", "side of the cells in which observations are merged, in lengthscales, 0 (none) to 1", "0.02"});
  info.options.push_back(
      {"thinned", "fraction of the neighbours taken from farther out, one per cell of 0.3 lengthscales, 0 to 1", "0.75"});
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<NearestGpInterpolator>(settings, domain);
          }};
}

}  // namespace drift
