// The exact Gaussian process, for small data and as the reference of the others. Its parameters come from a subset where there
// are many observations; all of them enter the prediction.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "baselines/gp_adapter.h"
#include "baselines/gp_state.h"
#include "baselines/methods.h"
#include "core/threads.h"
#include "gp/exact.h"

namespace drift {
namespace {

constexpr std::size_t kExactBlock = 256;  // points predicted together: a quarter of a megabyte a thousand observations

class ExactGpInterpolator : public Interpolator {
 public:
  ExactGpInterpolator(const MethodSettings& settings, const Domain& domain)
      : covariance_(covariance_settings(settings, domain, "joint")), subset_(settings.count("subset", 2000, 10, 20000)) {}

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override {
    threads_ = threads_or_all(options.threads);
    foresee_memory(data.training.coordinates.rows);
    gp::GpData observations = gp_data("exact", data, 3);
    const gp::KernelSpec spec = kernel_of(data, covariance_, false);
    control.report(0.0, "parameters");
    const gp::Found found =
        gp::fit_exact(spec, observations,
                      {.subset = subset_, .lengthscales = covariance_.lengthscales, .seed = options.seed, .threads = threads_},
                      "method exact", control);
    control.report(0.5, "factor");
    dimensions_ = data.training.coordinates.cols;
    noise_variance_ = new_observation_variance(found.parameters, observations);
    gp_.emplace(spec, found.parameters, std::move(observations), "method exact", control);
    control.report(1.0, "done");
  }

  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override {
    const bool spread = !out.sd_epistemic.empty() || !out.sd_total.empty();
    const int threads = workers.threads > 0 ? workers.threads : threads_;
    predict_in_blocks("exact", points, dimensions_, kExactBlock, threads, noise_variance_, out,
                      [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd&) {
                        gp_->predict(x, mean, spread ? &variance : nullptr);
                      });
  }

  void save(State& state) const override {
    put_observations(state, gp_->data());
    put_parameters(state, gp_->parameters());
  }

  // The factor is made anew: a file of n^2 numbers would take longer to read.
  void restore(const State& state, const Domain& domain) override {
    gp::GpData observations = observations_of(state, domain);
    dimensions_ = static_cast<std::size_t>(observations.points.rows());
    threads_ = available_threads();
    foresee_memory(static_cast<std::size_t>(observations.size()));
    const gp::KernelSpec spec = kernel_of(domain, has_time(domain, dimensions_), covariance_, false);
    const gp::GpParameters parameters = parameters_of(state, spec);
    noise_variance_ = new_observation_variance(parameters, observations);
    gp_.emplace(spec, parameters, std::move(observations), "method exact");
  }

  std::vector<double> lengthscales() const override { return lengthscales_of(gp_->parameters().kernel); }
  bool knows_noise() const override { return true; }

  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override {
    auto out = parameter_findings(gp_->parameters(), domain);
    if (gp_->jitter() > 0.0) out.emplace_back("jitter", fmt::format("{:.3g}", gp_->jitter()));
    return out;
  }

 private:
  // The factor and a block of covariances for each thread; before it, two starts of the search with two matrices each.
  void foresee_memory(std::size_t n) const {
    const auto all = static_cast<double>(n), part = static_cast<double>(std::min(n, subset_));
    const double bytes = 8.0 * std::max(all * all + all * static_cast<double>(kExactBlock) * threads_, 4.0 * part * part);
    require_memory("exact", n, bytes, "use nngp, or train on fewer observations");
  }

  CovarianceSettings covariance_;
  std::size_t subset_;
  std::size_t dimensions_ = 0;
  int threads_ = 1;
  double noise_variance_ = 0.0;
  std::optional<gp::ExactGp> gp_;
};

}  // namespace

Method exact_gp_method() {
  MethodInfo info{.name = "exact",
                  .title = "Exact GP",
                  .summary = "Gaussian-process regression without approximation, for small data",
                  .source = "Rasmussen & Williams 2006",
                  .options = covariance_options("joint")};
  info.options.push_back({"subset", "observations that parameters are fitted on, 10 to 20000", "2000"});
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<ExactGpInterpolator>(settings, domain);
          }};
}

}  // namespace drift
