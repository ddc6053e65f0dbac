#include "baselines/deep_gp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/gp_state.h"
#include "core/threads.h"
#include "drift/error.h"

namespace drift {
namespace {

// The paper's of 2025.
gp::SvgpSettings deep_defaults() {
  gp::SvgpSettings out;
  out.method = "dgp";
  out.layers = 2;
  out.inducing = 512;
  out.epochs = 10.0;
  return out;
}

std::string text(double number) { return fmt::format("{:g}", number); }

}  // namespace

VariationalInterpolator::VariationalInterpolator(gp::SvgpSettings settings, CovarianceSettings covariance, Family family)
    : settings_(std::move(settings)), covariance_(std::move(covariance)), family_(family) {}

void VariationalInterpolator::fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) {
  const std::size_t n = data.training.coordinates.rows;
  settings_ = gp::settled(settings_, n);
  settings_.seed = options.seed;
  settings_.threads = threads_or_all(options.threads);
  dimensions_ = data.training.coordinates.cols;
  const double rows = 8.0 * static_cast<double>(n) * (static_cast<double>(dimensions_) + 2.0);
  require_memory(settings_.method, n, rows + gp::svgp_bytes(settings_, n, static_cast<int>(dimensions_)),
                 fmt::format("ask for fewer inducing points, {}:inducing={}, or a smaller batch", settings_.method,
                             std::max<std::size_t>(1, settings_.inducing / 2)));
  const gp::GpData observations = gp_data(settings_.method, data, 3);
  const Covariance covariance{family_, covariance_.nu};
  settings_.kernel = gp::space_time_kernel(data.space, data.space_coordinates, data.has_time(), covariance, covariance_.joint);
  settings_.hidden_covariance = covariance;
  settings_.lengthscales = covariance_.lengthscales;
  control.report(0.0, "inducing points");
  fitted_ = gp::start_svgp<float>(observations, settings_);
  outcome_ = gp::train_svgp<float>(observations, settings_, control, fitted_);
  const double scale = std::exp(fitted_.parameters.log_scale);
  const double known = observations.known_variance.size() > 0 ? observations.known_variance.mean() : 0.0;
  noise_variance_ = (scale * scale + known) * gp::Likelihood(settings_.likelihood).noise_variance();
  predictor_ = std::make_unique<gp::DeepPredictor<float>>(fitted_.spec, fitted_.parameters, settings_.seed, settings_.threads);
}

// The predictor has threads of its own, as many as the fit had; a change of their number would not change its numbers.
void VariationalInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers&) const {
  constexpr std::size_t kBlock = 2048;
  predict_in_blocks(settings_.method, points, dimensions_, kBlock, 1, noise_variance_, out,
                    [&](const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance, Eigen::VectorXd&) {
                      const std::lock_guard lock(mutex_);
                      const auto n = static_cast<std::size_t>(x.cols());
                      predictor_->predict(x, {mean.data(), n}, {variance.data(), n});
                      mean.array() += fitted_.mean;
                    });
}

void VariationalInterpolator::save(State& state) const {
  state.put("mean", fitted_.mean);
  state.put("log_scale", fitted_.parameters.log_scale);
  state.put("noise_variance", noise_variance_);
  state.put("seed", static_cast<double>(settings_.seed));
  state.put("steps", static_cast<double>(outcome_.steps));
  state.put("bound", outcome_.bound_per_observation);
  state.put("jitter", outcome_.jitter);
  for (std::size_t l = 0; l < fitted_.parameters.layers.size(); ++l) {
    const gp::LayerParameters<float>& layer = fitted_.parameters.layers[l];
    const gp::LayerSpec& spec = fitted_.spec.layers[l];
    const auto name = [l](const char* what) { return fmt::format("layer.{}.{}", l, what); };
    put_matrix(state, name("inducing"), layer.inducing);
    put_matrix(state, name("mean"), layer.mean);
    put_matrix(state, name("kernel"), layer.kernel);
    if (spec.skip.size() > 0) put_matrix(state, name("skip"), spec.skip);
    for (std::size_t p = 0; p < layer.root.size(); ++p) {
      const gp::RowMatrix<float>& root = layer.root[p];
      state.put(fmt::format("layer.{}.root.{}", l, p), {layer.points(), layer.points()},
                std::vector<float>(root.data(), root.data() + root.size()));
    }
  }
}

void VariationalInterpolator::restore(const State& state, const Domain& domain) {
  constexpr double kMost = 1e300, kMostLog = 300.0;
  settings_.seed = state.count("seed", 0, std::size_t{1} << 53U);
  settings_.threads = available_threads();
  outcome_ = {.steps = state.count("steps", 0, std::size_t{1} << 53U),
              .bound_per_observation = state.number("bound", -kMost, kMost),
              .jitter = state.number("jitter", 0.0, kMost)};
  noise_variance_ = state.number("noise_variance", 0.0, kMost);
  fitted_ = {};
  fitted_.mean = state.number("mean", -kMost, kMost);
  fitted_.parameters.log_scale = state.number("log_scale", -kMostLog, kMostLog);
  fitted_.spec.likelihood = settings_.likelihood;
  fitted_.spec.draws = settings_.draws;
  dimensions_ = state.shape("layer.0.inducing", 2)[1];
  const Covariance covariance{family_, covariance_.nu};
  std::size_t inputs = dimensions_;
  for (int l = 0; l < settings_.layers; ++l) {
    const auto name = [l](const char* what) { return fmt::format("layer.{}.{}", l, what); };
    const bool last = l + 1 == settings_.layers;
    gp::LayerSpec spec;
    spec.where = fmt::format("inducing points of {}", settings_.method);
    spec.kernel = l == 0 ? gp::space_time_kernel(space_of(domain), space_coordinates(domain), has_time(domain, dimensions_),
                                                 covariance, covariance_.joint)
                         : gp::planar_kernel(static_cast<int>(inputs), covariance);
    spec.outputs = last ? 1 : settings_.width > 0 ? settings_.width : static_cast<int>(inputs);
    const auto outputs = static_cast<std::size_t>(spec.outputs);
    if (!last) spec.skip = matrix_of(state, name("skip"), inputs, outputs);
    gp::LayerParameters<float> layer;
    layer.inducing = matrix_of(state, name("inducing"), inputs);
    const std::size_t points = layer.points();
    if (points == 0) throw Error("the saved state has no inducing points");
    layer.mean = matrix_of(state, name("mean"), points, outputs);
    layer.kernel = matrix_of(state, name("kernel"), static_cast<std::size_t>(spec.kernel.lengthscales) + 1, 1);
    if (layer.kernel.cwiseAbs().maxCoeff() > kMostLog) throw Error(fmt::format("\"{}\" is out of range", name("kernel")));
    for (std::size_t p = 0; p < outputs; ++p) {
      const std::span<const float> root = state.tensor<float>(fmt::format("layer.{}.root.{}", l, p), {points, points});
      layer.root.emplace_back(Eigen::Map<const gp::RowMatrix<float>>(root.data(), static_cast<Eigen::Index>(points),
                                                                     static_cast<Eigen::Index>(points)));
    }
    fitted_.spec.layers.push_back(std::move(spec));
    fitted_.parameters.layers.push_back(std::move(layer));
    inputs = outputs;
  }
  predictor_ = std::make_unique<gp::DeepPredictor<float>>(fitted_.spec, fitted_.parameters, settings_.seed, settings_.threads);
}

std::vector<std::pair<std::string, std::string>> VariationalInterpolator::findings(const Domain& domain) const {
  const gp::DeepParameters<float>& found = fitted_.parameters;
  const gp::GpParameters parameters{.kernel = found.layers.front().kernel, .log_noise = found.log_scale, .mean = fitted_.mean};
  auto out = parameter_findings(parameters, domain);
  if (found.layers.size() > 1) {
    // The first layer's amplitude is that of a displacement, the last one's that of the field.
    const gp::KernelParameters& last = found.layers.back().kernel;
    for (auto& [name, value] : out) {
      if (name == "amplitude") value = fmt::format("{:.4g}", sd_from_engine(domain, std::exp(last[last.size() - 1])));
      if (name == "lengthscale" || name == "time lengthscale") name += " of layer 1";
    }
    std::string lengths;
    for (Eigen::Index k = 0; k + 1 < last.size(); ++k) lengths += fmt::format("{}{:.3g}", k > 0 ? " " : "", std::exp(last[k]));
    out.emplace_back(fmt::format("lengthscales of layer {}", found.layers.size()), lengths);
  }
  out.emplace_back("inducing points", fmt::format("{}", found.layers.front().points()));
  out.emplace_back("steps", fmt::format("{}", outcome_.steps));
  out.emplace_back("bound an observation", fmt::format("{:.4g}", outcome_.bound_per_observation));
  out.emplace_back("jitter", fmt::format("{:.3g}", outcome_.jitter));
  return out;
}

std::vector<MethodOption> variational_options(const gp::SvgpSettings& fallback, bool lengthscales) {
  std::vector<MethodOption> out = {
      {"inducing", "inducing points per layer, 1 to 20000; by default a tenth of the observations, at most 500",
       fmt::format("{}", fallback.inducing)},
      {"epochs", "passes over the observations, up to 1000; never fewer than `steps` steps", text(fallback.epochs)},
      {"steps", "minimum number of steps, 1 to 1000000: small data are seen more often", fmt::format("{}", fallback.least_steps)},
      {"batch", "observations per step, 1 to 1000000; up to 4096 observations are one batch", fmt::format("{}", fallback.batch)},
      {"rate", "learning rate of Adam, 1e-6 to 1", text(fallback.rate)},
      {"schedule", "schedule of the rate: cosine (down to zero) or constant", fallback.cosine ? "cosine" : "constant"},
      {"optimiser",
       "optimiser of the last layer's posterior: adam, or natural (natural gradients, Adam for the rest), the default up to 500 "
       "inducing points",
       "data"},
      {"natural_rate", "size of natural steps, 0.0001 to 1", text(fallback.natural_rate)},
      {"likelihood", fmt::format("distribution of the errors: {}", words_text<gp::LikelihoodKind>()), "gaussian"},
      {"freedom", "degrees of freedom of student, 2.1 to 100", text(fallback.likelihood.nu)},
      {"delta", "residual beyond which huber has linear tails, in units of its scale, 0.01 to 100",
       text(fallback.likelihood.delta)},
      {"start", "initial inducing points: kmeans or random", "kmeans"},
      {"train_inducing", "train the inducing points: yes or no", "yes"},
      {"family", fmt::format("covariance: {}", words_text<Family>()), "matern"}};
  for (MethodOption& option : covariance_options("joint")) {
    if (lengthscales || (option.name != "lengthscale" && option.name != "time_lengthscale")) out.push_back(std::move(option));
  }
  return out;
}

gp::SvgpSettings variational_settings(const MethodSettings& settings, const gp::SvgpSettings& fallback) {
  gp::SvgpSettings out = fallback;
  out.inducing = settings.count("inducing", out.inducing, 1, 20000);
  if (settings.has("inducing")) out.inducing_share = 1.0;
  out.epochs = settings.number("epochs", out.epochs, 1e-6, 1000.0);
  out.least_steps = settings.count("steps", out.least_steps, 1, 1000000);
  out.batch = settings.count("batch", out.batch, 1, 1000000);
  if (settings.has("batch")) out.whole = 0;
  out.rate = settings.number("rate", out.rate, 1e-6, 1.0);
  out.cosine = settings.word("schedule", out.cosine ? Schedule::cosine : Schedule::constant) == Schedule::cosine;
  if (settings.has("optimiser")) out.natural = settings.either("natural", "adam", "optimiser", false);
  out.natural_rate = settings.number("natural_rate", out.natural_rate, 1e-4, 1.0);
  out.likelihood.kind = settings.word("likelihood", gp::LikelihoodKind::gaussian);
  out.likelihood.nu = settings.number("freedom", out.likelihood.nu, 2.1, 100.0);
  out.likelihood.delta = settings.number("delta", out.likelihood.delta, 0.01, 100.0);
  out.kmeans = settings.either("kmeans", "random", "start", true);
  out.train_inducing = settings.truth("train_inducing", true);
  return out;
}

Method deep_gp_method() {
  const gp::SvgpSettings fallback = deep_defaults();
  MethodInfo info{.name = "dgp",
                  .title = "Deep GP",
                  .summary = "Gaussian processes in sequence, trained by doubly stochastic variational inference",
                  .source = "Salimbeni & Deisenroth 2017",
                  .options = variational_options(fallback, false)};
  info.options.push_back({"layers", "layers, 1 to 5; one is svgp", fmt::format("{}", fallback.layers)});
  info.options.push_back({"width", "outputs per hidden layer, 1 to 30", "as many as coordinates"});
  info.options.push_back({"draws", "of hidden layers, 1 to 1000", fmt::format("{}", fallback.draws)});
  return {info, [fallback](const MethodSettings& settings, const Domain& domain) {
            gp::SvgpSettings wanted = variational_settings(settings, fallback);
            wanted.layers = static_cast<int>(settings.count("layers", static_cast<std::size_t>(wanted.layers), 1, 5));
            wanted.width = static_cast<int>(settings.count("width", 0, 1, 30));
            wanted.draws = static_cast<int>(settings.count("draws", static_cast<std::size_t>(wanted.draws), 1, 1000));
            CovarianceSettings covariance;
            covariance.nu = nu_setting(settings);
            covariance.joint = settings.either("joint", "product", "covariance", true);
            static_cast<void>(domain);
            return std::make_unique<VariationalInterpolator>(wanted, covariance, settings.word("family", Family::matern));
          }};
}

}  // namespace drift
