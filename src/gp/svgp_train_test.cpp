#include "gp/svgp_train.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "drift/error.h"
#include "gp/svgp_natural.h"
#include "gp/svgp_testing.h"

namespace drift::gp {
namespace {

double smooth(const Eigen::VectorXd& x) { return std::sin(2.0 * x[0]) * std::cos(x[1]) + 0.5 * std::sin(x[2]); }

// A field of space and time with noise.
GpData noisy_field(Eigen::Index n, double noise_sd, std::uint64_t seed) {
  GpData data;
  data.points = normals(3, n, seed);
  data.values.resize(n);
  const Eigen::VectorXd noise = noise_sd * normals(n, 1, seed + 1);
  for (Eigen::Index i = 0; i < n; ++i) data.values[i] = smooth(data.points.col(i)) + noise[i];
  return data;
}

SvgpSettings plane_settings(std::size_t inducing, std::size_t steps) {
  SvgpSettings settings;
  settings.kernel = space_time_kernel(Space::plane, 2, true, {}, true);
  settings.inducing = inducing;
  settings.epochs = 0.01;
  settings.least_steps = steps;
  settings.rate = 0.05;
  settings.threads = 2;
  return settings;
}

template <class Real>
struct Fitted {
  SvgpStart<Real> start;
  SvgpOutcome outcome;

  Fitted(const GpData& data, SvgpSettings settings) {
    settings = settled(settings, static_cast<std::size_t>(data.size()));
    start = start_svgp<Real>(data, settings);
    outcome = train_svgp<Real>(data, settings, {}, start);
  }
  Eigen::VectorXd mean(const Eigen::MatrixXd& at) const {
    DeepPredictor<Real> predictor(start.spec, start.parameters, 1, 1);
    Eigen::VectorXd out(at.cols()), variance(at.cols());
    const auto n = static_cast<std::size_t>(at.cols());
    predictor.predict(at, {out.data(), n}, {variance.data(), n});
    return out.array() + start.mean;
  }
  double rmse() const {
    const Eigen::MatrixXd at = normals(3, 300, 99);
    const Eigen::VectorXd found = mean(at);
    double sum = 0.0;
    for (Eigen::Index i = 0; i < at.cols(); ++i) sum += std::pow(found[i] - smooth(at.col(i)), 2);
    return std::sqrt(sum / 300.0);
  }
};

TEST(TrainSvgp, FindsNoiseAndFieldWithEitherOptimiser) {
  const GpData data = noisy_field(1500, 0.2, 40);
  for (const bool natural : {false, true}) {
    SvgpSettings settings = plane_settings(80, 150);
    settings.natural = natural;
    settings.whole = 0;
    settings.batch = 300;
    const Fitted<float> fitted(data, settings);
    EXPECT_EQ(fitted.outcome.steps, 150U);
    EXPECT_LT(fitted.rmse(), 0.15) << natural;  // the field's own sd is 0.6
    EXPECT_NEAR(std::exp(fitted.start.parameters.log_scale), 0.2, 0.08) << natural;
  }
}

TEST(TrainSvgp, WithOneBatchOfAllNaturalStepsReachTheExactProcess) {
  const GpData data = noisy_field(120, 0.2, 42);
  SvgpSettings settings = plane_settings(120, 60);
  settings.train_inducing = false;
  const Fitted<double> fitted(data, settings);
  const Eigen::MatrixXd at = normals(3, 50, 43);
  const double noise = std::exp(2.0 * fitted.start.parameters.log_scale);
  const ExactReference exact(Kernel(settings.kernel, fitted.start.parameters.layers[0].kernel), data.points,
                             data.values.array() - fitted.start.mean, Eigen::VectorXd::Constant(120, noise), at);
  // A jitter of 1e-6 of the variance is the difference.
  EXPECT_LT((fitted.mean(at).array() - fitted.start.mean - exact.mean.array()).abs().maxCoeff(), 1e-3);
}

TEST(TrainSvgp, HeavyTailsBearOutliersBetterThanTheGaussian) {
  GpData data = noisy_field(800, 0.1, 44);
  for (Eigen::Index i = 0; i < 800; i += 8) data.values[i] += i % 16 == 0 ? 4.0 : -3.0;
  const auto rmse = [&](LikelihoodKind kind) {
    SvgpSettings settings = plane_settings(60, 150);
    settings.likelihood.kind = kind;
    settings.natural = true;
    settings.natural_rate = 0.3;
    return Fitted<float>(data, settings).rmse();
  };
  const double gaussian = rmse(LikelihoodKind::gaussian);
  EXPECT_LT(rmse(LikelihoodKind::student), 0.6 * gaussian);
  EXPECT_LT(rmse(LikelihoodKind::huber), 0.8 * gaussian);
}

TEST(TrainSvgp, NothingDependsOnTheNumberOfThreads) {
  const GpData data = noisy_field(700, 0.2, 46);
  const Eigen::MatrixXd at = normals(3, 40, 47);
  for (const int layers : {1, 2}) {
    SvgpSettings settings = plane_settings(150, 4);
    settings.layers = layers;
    settings.draws = 3;
    settings.threads = 1;
    const Fitted<float> one(data, settings);
    settings.threads = 3;
    const Fitted<float> three(data, settings);
    EXPECT_EQ(one.mean(at), three.mean(at)) << layers;
    EXPECT_EQ(one.outcome.bound_per_observation, three.outcome.bound_per_observation) << layers;
  }
}

TEST(TrainSvgp, TheOrderOfObservationsInABatchDoesNotMatter) {
  const GpData data = noisy_field(90, 0.2, 48);
  SvgpSettings settings = plane_settings(30, 1);
  const auto start = start_svgp<double>(data, settled(settings, 90));
  DeepBatch batch{.x = data.points, .y = data.values, .known = {}};
  DeepBatch turned{.x = data.points.rowwise().reverse(), .y = data.values.reverse(), .known = {}};
  const auto solve = [&](const DeepBatch& each) {
    DeepParameters<double> parameters = start.parameters;
    DeepModel<double> model(start.spec, 1);
    model.evaluate(parameters, each, {}, {});
    NaturalSteps natural(parameters.layers[0]);
    natural.step<double>(model.last_layer(), 1.0, parameters.layers[0], 1, "test");
    return std::pair(model.evaluate(parameters, each, {}, {}), parameters.layers[0].mean);
  };
  const auto [bound, mean] = solve(batch);
  const auto [turned_bound, turned_mean] = solve(turned);
  EXPECT_NEAR(bound, turned_bound, 1e-8 * std::abs(bound));
  EXPECT_LT((mean - turned_mean).norm(), 1e-7 * mean.norm());
}

TEST(TrainSvgp, ALossThatIsNotFiniteIsAnErrorWithStepAndRate) {
  GpData data = noisy_field(100, 0.1, 50);
  data.values *= 1e300;
  SvgpSettings settings = plane_settings(20, 30);
  settings.natural = false;
  try {
    const Fitted<float> fitted(data, settings);
    FAIL() << "training went on with " << fitted.outcome.bound_per_observation;
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("method svgp"), std::string::npos) << what;
    EXPECT_NE(what.find("step 1 "), std::string::npos) << what;
    EXPECT_NE(what.find("rate"), std::string::npos) << what;
  }
}

TEST(TrainSvgp, AGivenLengthscaleStays) {
  const GpData data = noisy_field(200, 0.2, 51);
  SvgpSettings settings = plane_settings(30, 20);
  settings.lengthscales = {0.7, std::nullopt};
  const Fitted<float> fitted(data, settings);
  EXPECT_NEAR(std::exp(fitted.start.parameters.layers[0].kernel[0]), 0.7, 1e-12);
  const auto start = start_svgp<float>(data, settled(settings, 200));
  EXPECT_GT(std::abs(fitted.start.parameters.layers[0].kernel[1] - start.parameters.layers[0].kernel[1]), 1e-3);
}

TEST(TrainSvgp, StopsWhenAsked) {
  const GpData data = noisy_field(200, 0.2, 52);
  SvgpSettings settings = settled(plane_settings(30, 1000), 200);
  auto start = start_svgp<float>(data, settings);
  std::stop_source source;
  double last = 0.0;
  const Control control{.progress =
                            [&](double share, const std::string&) {
                              last = share;
                              if (share > 0.01) source.request_stop();
                            },
                        .stop = source.get_token()};
  EXPECT_THROW(train_svgp<float>(data, settings, control, start), Stopped);
  EXPECT_GT(last, 0.01);
  EXPECT_LT(last, 0.04) << "of 1,000 steps";
}

TEST(TrainSvgp, ManyObservationsAtOnePlaceAreNoTrouble) {
  GpData data = noisy_field(300, 0.2, 53);
  for (Eigen::Index i = 0; i < 300; ++i) data.points.col(i) = data.points.col(i % 3);
  const Fitted<float> fitted(data, plane_settings(100, 20));
  EXPECT_EQ(fitted.start.parameters.layers[0].points(), 3U);
  EXPECT_TRUE(fitted.mean(data.points.leftCols(3)).allFinite());
}

}  // namespace
}  // namespace drift::gp
