// The rows of the table of methods for the paper's other networks. Sizes, rates and epochs are those of its first experiment
// (appendix "Baseline details").

#include <fmt/format.h>

#include <memory>
#include <numbers>

#include "baselines/methods.h"
#include "baselines/networks.h"

namespace drift {
namespace {

// Defaults of a method.
struct NetworkDefaults {
  std::size_t layers;
  std::size_t width;
  double rate;
  Schedule schedule;
  double epochs;
  std::size_t least_steps;
};

std::vector<MethodOption> common_options(const NetworkDefaults& defaults, const std::string& layers, const std::string& rate) {
  return {{"layers", layers, fmt::format("{}", defaults.layers)},
          {"width", "width of the hidden layers, 1 to 16384", fmt::format("{}", defaults.width)},
          {"rate", rate, fmt::format("{:g}", defaults.rate)},
          {"schedule", "schedule of the rate: constant, or cosine (50 steps of warm-up, then down to zero)",
           std::string(word_of(defaults.schedule))},
          {"epochs", "times each observation is seen; more if `steps` requires it", fmt::format("{:g}", defaults.epochs)},
          {"steps", "minimum number of steps, 0 to 1e7: small data need more epochs", fmt::format("{}", defaults.least_steps)},
          {"batch", "observations per step, at most 1e6", "1024"},
          {"members", "networks in the ensemble, 1 to 1000", "10"},
          {"optimiser", "adam, or muon for the weights between hidden layers", "adam"},
          {"loss", fmt::format("loss: {}", words_text<LossKind>()), "squared"},
          {"huber_delta", "residual beyond which the Huber loss is linear, in SDs of the values", "0.1"}};
}

NetworkSettings read_common(const MethodSettings& settings, const NetworkDefaults& defaults) {
  NetworkSettings out;
  out.method = settings.method();
  out.dense.layers = static_cast<int>(settings.count("layers", defaults.layers, 1, 100));
  out.dense.width = static_cast<int>(settings.count("width", defaults.width, 1, 16384));
  Recipe& recipe = out.recipe;
  recipe.optimiser = settings.word("optimiser", Optimiser::adam);
  recipe.rate = settings.number("rate", defaults.rate, 1e-9, 10.0);
  recipe.schedule = settings.word("schedule", defaults.schedule);
  recipe.epochs = settings.number("epochs", defaults.epochs, 1e-6, 1e6);
  recipe.batch = settings.count("batch", 1024, 1, 1'000'000);
  recipe.loss = settings.word("loss", LossKind::squared);
  recipe.huber_delta = settings.number("huber_delta", 0.1, 1e-6, 1e6);
  out.least_steps = settings.count("steps", defaults.least_steps, 0, 10'000'000);
  out.members = settings.count("members", 10, 1, 1000);
  return out;
}

// Rates: on 50,000 observations of a made-up field (noise sd 0.1 of a field of sd 1; 800 steps, the ReLU network 200), the
// paper's constant rates left errors of 0.16 (ffn), 0.076 (siren) and 0.95 (mlp, which did not learn), these 0.048, 0.056 and
// 0.20.
constexpr NetworkDefaults kRelu = {
    .layers = 6, .width = 1024, .rate = 1e-3, .schedule = Schedule::cosine, .epochs = 5, .least_steps = 1000};
constexpr NetworkDefaults kFourier = {
    .layers = 2, .width = 512, .rate = 1e-3, .schedule = Schedule::cosine, .epochs = 10, .least_steps = 2000};
constexpr NetworkDefaults kSiren = {
    .layers = 4, .width = 512, .rate = 1e-4, .schedule = Schedule::cosine, .epochs = 10, .least_steps = 2000};

}  // namespace

Method relu_network_method() {
  MethodInfo info{.name = "mlp",
                  .title = "ReLU MLP",
                  .summary = "ensemble of multilayer perceptrons with ReLU activations",
                  .source = "Lakshminarayanan et al. 2017",
                  .options = common_options(
                      kRelu, "hidden layers, 1 to 100",
                      "Adam's learning rate; with the paper's (rate=0.01,schedule=constant) networks so wide hardly learn")};
  return {info, [](const MethodSettings& settings, const Domain&) {
            return std::make_unique<NetworkInterpolator>(read_common(settings, kRelu));
          }};
}

Method fourier_network_method() {
  MethodInfo info{
      .name = "ffn",
      .title = "Fourier features network",
      .summary = "ReLU network on random Fourier features of the coordinates, an ensemble",
      .source = "Tancik et al. 2020",
      .options = common_options(kFourier, "hidden layers after the features, 1 to 100",
                                "Adam's learning rate; the paper's (rate=1e-5,schedule=constant) takes many more steps")};
  info.options.push_back({"features", "random Fourier features, 1 to 100000", "width"});
  info.options.push_back({"lengthscale", "lengthscale of the features in space, in the domain's unit", "data"});
  info.options.push_back(
      {"time_lengthscale", "lengthscale of the features in time, days; by default one SD of the times", "data"});
  info.options.push_back({"amplitude", "amplitude of the features, 1e-3 to 1e3", "1"});
  info.options.push_back(
      {"trials", "trials of Bayesian optimisation of these three on a fifth of the training rows (the paper: 25)", "0"});
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            NetworkSettings network = read_common(settings, kFourier);
            network.dense.input = DenseInput::fourier;
            network.features = settings.count("features", static_cast<std::size_t>(network.dense.width), 1, 100'000);
            if (const auto given = settings.number("lengthscale", 1e-9, 1e9)) {
              network.lengthscale = lengthscale_to_engine(domain, *given);
            }
            if (const auto given = settings.number("time_lengthscale", 1e-9, 1e9)) {
              network.time_lengthscale = time_lengthscale_to_engine(domain, *given);
            }
            network.amplitude = settings.number("amplitude", 1.0, 1e-3, 1e3);
            network.trials = settings.count("trials", 0, 0, 10'000);
            return std::make_unique<NetworkInterpolator>(std::move(network));
          }};
}

Method siren_method() {
  MethodInfo info{.name = "siren",
                  .title = "SIREN",
                  .summary = "network with sine activations and its own initialisation, an ensemble",
                  .source = "Sitzmann et al. 2020",
                  .options = common_options(kSiren, "hidden layers, 1 to 100",
                                            "Adam's learning rate; the paper's: rate=1e-5,schedule=constant")};
  info.options.push_back({"omega", "factor in the first layer's sine; the paper's value is for coordinates in [-1, 1]", "30"});
  info.options.push_back({"hidden_omega", "factor in the later layers' sines", "30"});
  return {info, [](const MethodSettings& settings, const Domain& domain) {
            NetworkSettings network = read_common(settings, kSiren);
            network.dense.activation = Activation::sine;
            // Even over [-1, 1], a coordinate has a standard deviation of 1/sqrt(3): standardised ones are sqrt(3) times as
            // large.
            const double unit = space_of(domain) == Space::sphere ? 1.0 : std::numbers::sqrt3;
            network.dense.omega = settings.number("omega", 30.0, 1e-3, 1e4) / unit;
            network.dense.hidden_omega = settings.number("hidden_omega", 30.0, 1e-3, 1e4);
            return std::make_unique<NetworkInterpolator>(std::move(network));
          }};
}

}  // namespace drift
