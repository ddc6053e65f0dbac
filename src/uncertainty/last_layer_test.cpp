// The posterior of the last layer against dense Gaussian processes: of the same random features, exactly, and of the covariance
// that they approximate, more and more closely.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/uncertainty.h"
#include "features/covariance.h"
#include "uncertainty/last_layer_file.h"
#include "uncertainty/last_layer_testing.h"
#include "uncertainty/uncertainty_testing.h"

namespace drift {
namespace {

using namespace uncertainty_testing;

constexpr double kNoise = 0.3;

struct Prediction {
  Eigen::MatrixXd mean;      // [points, outputs]
  Eigen::VectorXd variance;  // [points]
};

Prediction predict_with(const Ensemble& ensemble, const std::vector<LastLayerPosterior>& posteriors, const FloatRows& points,
                        int threads = 2) {
  const auto engine = make_cpu_engine({.threads = threads});
  FloatRows mean(points.rows(), ensemble.spec.outputs), variance(points.rows(), ensemble.spec.outputs);
  const auto view = [](FloatRows& m) {
    return MatrixView<float>(m.data(), static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()));
  };
  predict_last_layer(*engine->prepare(ensemble), ensemble, posteriors, Observations::view(points),
                     {.mean = view(mean), .variance = view(variance), .members = {}}, threads);
  return {mean.cast<double>(), variance.col(0).cast<double>()};
}

Prediction last_layer(const NetworkSpec& spec, const Observations& data, const FloatRows& points, std::uint64_t seed,
                      std::size_t members = 1) {
  Ensemble ensemble = draw_ensemble(spec, seed, members);
  const auto engine = make_cpu_engine({.threads = 2});
  const auto posteriors = fit_last_layer(*engine, ensemble, data.set(), kNoise);
  set_last_layers(ensemble, posteriors);
  return predict_with(ensemble, posteriors, points);
}

// The textbook's dense Gaussian process (Rasmussen & Williams 2006, eq. 2.25, 2.26); an observation's noise variance over its
// weight.
Prediction dense_process(const Eigen::MatrixXd& among_data, const Eigen::MatrixXd& points_to_data,
                         const Eigen::VectorXd& at_points, const Observations& data) {
  Eigen::MatrixXd k = among_data;
  for (Eigen::Index i = 0; i < k.rows(); ++i) {
    k(i, i) += kNoise * kNoise / (data.weights.empty() ? 1.0 : static_cast<double>(data.weights[static_cast<std::size_t>(i)]));
  }
  const Eigen::LDLT<Eigen::MatrixXd> solver(k);
  const Eigen::MatrixXd solved = solver.solve(points_to_data.transpose());
  return {solved.transpose() * data.values.cast<double>(),
          at_points - points_to_data.cwiseProduct(solved.transpose()).rowwise().sum()};
}

Prediction dense_feature_process(const NetworkSpec& spec, const Member& member, const Observations& data,
                                 const FloatRows& points) {
  const Eigen::MatrixXd phi = features(spec, member, data.coordinates), at = features(spec, member, points);
  return dense_process(phi * phi.transpose(), at * phi.transpose(), at.rowwise().squaredNorm(), data);
}

double rms(const Eigen::MatrixXd& difference) {
  return std::sqrt(difference.squaredNorm() / static_cast<double>(difference.size()));
}

class LastLayer : public testing::TestWithParam<Space> {};
INSTANTIATE_TEST_SUITE_P(Spaces, LastLayer, testing::Values(Space::plane, Space::sphere),
                         [](const auto& space) { return space.param == Space::plane ? "Plane" : "Sphere"; });

TEST_P(LastLayer, OfOneLayerIsTheGaussianProcessOfItsFeatures) {
  NetworkSpec spec = one_layer(GetParam(), 150);
  spec.outputs = 2;
  Observations data = observations(GetParam(), 60, 1, 2);
  for (Eigen::Index i = 0; i < data.values.rows(); ++i) data.weights.push_back(0.5F + 0.05F * static_cast<float>(i));
  const FloatRows points = observations(GetParam(), 40, 2).coordinates;
  const Prediction found = last_layer(spec, data, points, 3);
  const Prediction expected = dense_feature_process(spec, draw_ensemble(spec, 3, 1).members[0], data, points);
  // Features in float: 1e-6 relative, times the gain of the regression.
  EXPECT_LT((found.mean - expected.mean).cwiseAbs().maxCoeff(), 2e-4);
  EXPECT_LT((found.variance - expected.variance).cwiseAbs().maxCoeff(), 2e-5);
  EXPECT_GT(expected.variance.maxCoeff(), 5 * expected.variance.minCoeff()) << "the check needs sure and unsure places";
}

// Root mean square errors of mean and sd against the exact process of the covariance, over seeds.
struct Errors {
  double mean, sd;
};
Errors errors_against_exact(Space space, int width) {
  const Observations data = observations(space, 12, 1);
  const FloatRows points = observations(space, 50, 2).coordinates;
  const NetworkSpec spec = one_layer(space, width);
  const auto covariance = [&](const FloatRows& a, const FloatRows& b) {
    const double variance = spec.spatial.amplitude * spec.spatial.amplitude;
    const auto spectrum = space == Space::sphere ? std::optional(sphere_spectrum(make_plan(spec))) : std::nullopt;
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(a.rows(), b.rows(), [&](Eigen::Index i, Eigen::Index j) {
      const Eigen::RowVectorXd x = a.row(i).cast<double>(), y = b.row(j).cast<double>();
      if (spectrum) return variance * spherical_covariance(*spectrum, std::clamp(x.dot(y), -1.0, 1.0));
      return variance * planar_covariance(spec.spatial.covariance, (x - y).norm() / spec.spatial.lengthscales[0]);
    }));
  };
  const Prediction exact = dense_process(covariance(data.coordinates, data.coordinates), covariance(points, data.coordinates),
                                         covariance(points, points).diagonal(), data);
  Errors errors{};
  constexpr std::uint64_t kSeeds = 8;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Prediction found = last_layer(spec, data, points, 100 * static_cast<std::uint64_t>(width) + seed);
    errors.mean += std::pow(rms(found.mean - exact.mean), 2) / kSeeds;
    errors.sd += std::pow(rms(found.variance.cwiseSqrt() - exact.variance.cwiseSqrt()), 2) / kSeeds;
  }
  return {std::sqrt(errors.mean), std::sqrt(errors.sd)};
}

TEST_P(LastLayer, OfOneLayerConvergesToTheExactGaussianProcess) {
  const Errors few = errors_against_exact(GetParam(), 128), many = errors_against_exact(GetParam(), 1152);
  // Nine times the features, a third of the error. With features few for the data the sd also has a bias, of order 1 / H: they
  // leave too few directions for doubt.
  EXPECT_NEAR(std::log(few.mean / many.mean) / std::log(9.0), 0.5, 0.2) << few.mean << " " << many.mean;
  EXPECT_NEAR(std::log(few.sd / many.sd) / std::log(9.0), 0.5, 0.2) << few.sd << " " << many.sd;
  EXPECT_LT(many.mean, 0.07);  // of a field of amplitude 1.3
  EXPECT_LT(many.sd, 0.05);
}

NetworkSpec deep(Coupling coupling = Coupling::additive) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.coupling = coupling;  // additive: with a head
  spec.features = 40;
  spec.bottleneck = 6;
  return spec;
}

// Observations of position and time.
Observations with_time(Eigen::Index count, std::uint64_t seed) {
  Observations data = observations(Space::plane, count, seed);
  FloatRows coordinates(count, 3);
  for (Eigen::Index i = 0; i < count; ++i) {
    coordinates.row(i) << data.coordinates(i, 0), data.coordinates(i, 1), std::sin(static_cast<float>(i));
  }
  data.coordinates = coordinates;
  return data;
}

class LastLayerOfADeepNetworkOf : public testing::TestWithParam<Coupling> {};
INSTANTIATE_TEST_SUITE_P(Couplings, LastLayerOfADeepNetworkOf, testing::Values(Coupling::additive, Coupling::product),
                         [](const auto& coupling) { return coupling.param == Coupling::product ? "product" : "additive"; });

TEST_P(LastLayerOfADeepNetworkOf, HasTheMeanThatMinimisesTheTrainingObjective) {
  Ensemble ensemble = draw_ensemble(deep(GetParam()), 5, 1);
  const Observations data = with_time(300, 1);
  const auto engine = make_cpu_engine({.threads = 2});
  const auto posteriors = fit_last_layer(*engine, ensemble, data.set(), kNoise);
  set_last_layers(ensemble, posteriors);
  const Plan plan = make_plan(ensemble.spec);
  const std::size_t head = plan.has_head ? plan.head : plan.layers.back().bottleneck, inputs = head_input_count(plan.spec);
  // sum of squares + sigma^2 |head|^2 is N times the recipe's objective, as a function of the head alone.
  const auto objective = [&](const Ensemble& networks) {
    FloatRows mean(300, 1);
    engine->predict(networks, data.set().coordinates, {.mean = {mean.data(), 300, 1}, .variance = {}, .members = {}});
    double decay = 0.0;
    for (std::size_t i = 0; i < inputs; ++i) decay += std::pow(networks.members[0].parameters[head + i], 2);
    return (mean - data.values).cast<double>().squaredNorm() + kNoise * kNoise * decay;
  };
  const double least = objective(ensemble);
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const float change : {-0.1F, 0.1F}) {
      Ensemble other = ensemble;
      other.members[0].parameters[head + i] += change;
      EXPECT_GT(objective(other), least) << i;
    }
  }
}

TEST(LastLayerOfADeepNetwork, PredictsTheMomentsOfTheMixture) {
  Ensemble ensemble = draw_ensemble(deep(), 5, 3);
  const Observations data = with_time(200, 1), points = with_time(30, 2);
  const auto engine = make_cpu_engine({.threads = 2});
  const auto posteriors = fit_last_layer(*engine, ensemble, data.set(), kNoise);
  set_last_layers(ensemble, posteriors);
  const Prediction mixture = predict_with(ensemble, posteriors, points.coordinates);
  Eigen::MatrixXd means(30, 3);
  Eigen::VectorXd within = Eigen::VectorXd::Zero(30);
  for (std::size_t j = 0; j < 3; ++j) {
    const Ensemble one{ensemble.spec, ensemble.seed, {ensemble.members[j]}};
    const Prediction alone = predict_with(one, {posteriors[j]}, points.coordinates);
    means.col(static_cast<Eigen::Index>(j)) = alone.mean.col(0);
    within += alone.variance / 3.0;
  }
  const Eigen::VectorXd centre = means.rowwise().mean();
  const Eigen::VectorXd between = (means.colwise() - centre).rowwise().squaredNorm() / 2.0;
  EXPECT_LT((mixture.mean.col(0) - centre).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((mixture.variance - within - between).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_GT(within.minCoeff(), 0.0);
}

TEST(LastLayerOfADeepNetwork, KnowsTheVarianceOfADifference) {
  const Ensemble ensemble = draw_ensemble(deep(), 5, 2);
  const Observations data = with_time(200, 1), points = with_time(30, 2);
  const auto engine = make_cpu_engine({.threads = 2});
  const auto posteriors = fit_last_layer(*engine, ensemble, data.set(), kNoise);
  std::vector<double> variances(15, 0.5);  // what is there stays
  add_last_layer_differences(*engine->prepare(ensemble), ensemble, posteriors, Observations::view(points.coordinates), variances);
  const std::size_t size = head_input_count(ensemble.spec);
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(15, 0.5);
  for (std::size_t j = 0; j < 2; ++j) {
    FloatRows phi(30, static_cast<Eigen::Index>(size));
    engine->head_inputs(ensemble, j, Observations::view(points.coordinates), {phi.data(), 30, size});
    const Eigen::MatrixXd factor =
        Eigen::Map<const FloatRows>(posteriors[j].inverse_factor.data(), phi.cols(), phi.cols()).cast<double>();
    for (Eigen::Index i = 0; i < 15; ++i)
      wanted[i] += 0.5 * (factor * (phi.row(2 * i + 1) - phi.row(2 * i)).transpose().cast<double>()).squaredNorm();
  }
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_NEAR(variances[i], wanted[static_cast<Eigen::Index>(i)], 1e-5);
    EXPECT_GT(variances[i], 0.5);
  }
  EXPECT_THROW(add_last_layer_differences(*engine->prepare(ensemble), ensemble, posteriors,
                                          Observations::view(points.coordinates), std::span(variances).first(14)),
               UsageError);
}

TEST(LastLayerOfADeepNetwork, IsTheSameForAnyNumberOfThreads) {
  const Ensemble ensemble = draw_ensemble(deep(), 5, 2);
  const Observations data = with_time(5000, 1);
  const auto one = fit_last_layer(*make_cpu_engine({.threads = 1}), ensemble, data.set(), kNoise, 1);
  const auto three = fit_last_layer(*make_cpu_engine({.threads = 3}), ensemble, data.set(), kNoise, 3);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(one[j].mean, three[j].mean);
    EXPECT_EQ(one[j].inverse_factor, three[j].inverse_factor);
  }
}

TEST(LastLayerOfADeepNetwork, ComesBackFromItsFile) {
  const Ensemble ensemble = draw_ensemble(deep(), 5, 2);
  const auto posteriors = fit_last_layer(*make_cpu_engine({.threads = 1}), ensemble, with_time(50, 1).set(), kNoise);
  const ScratchFolder folder;
  ModelParts file = model_parts(ensemble, {{"domain", "plane"}});
  add_last_layers(file, ensemble, posteriors);
  write_safetensors(folder / "m", file.tensors, file.metadata);
  const Model model = load_model(folder / "m");
  EXPECT_EQ(model.metadata.at("domain"), "plane");
  const auto loaded = load_last_layers(folder / "m", model.ensemble);
  ASSERT_EQ(loaded.size(), 2u);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(loaded[j].mean, posteriors[j].mean);
    EXPECT_EQ(loaded[j].inverse_factor, posteriors[j].inverse_factor);
    EXPECT_EQ(loaded[j].inputs, 12u);
    EXPECT_EQ(loaded[j].outputs, 1u);
  }
  save_model(folder / "plain", ensemble);
  EXPECT_TRUE(load_last_layers(folder / "plain", ensemble).empty());
  std::string bytes = read_bytes(folder / "m");
  bytes.replace(bytes.find("last_layer.1.mean"), 17, "last_layer.1.moan");
  write_bytes(folder / "damaged", bytes);
  EXPECT_THROW(load_last_layers(folder / "damaged", ensemble), Error);
}

TEST(LastLayerOfADeepNetwork, RefusesWhatDoesNotFit) {
  Ensemble ensemble = draw_ensemble(deep(), 5, 2);
  const Observations data = with_time(50, 1);
  const auto engine = make_cpu_engine({.threads = 1});
  EXPECT_THROW(fit_last_layer(*engine, ensemble, data.set(), 0.0), UsageError);
  EXPECT_THROW(fit_last_layer(*engine, ensemble, observations(Space::plane, 50, 1).set(), 0.1), UsageError);
  auto posteriors = fit_last_layer(*engine, ensemble, data.set(), 0.1);
  posteriors.pop_back();
  EXPECT_THROW(predict_with(ensemble, posteriors, data.coordinates), UsageError);
  std::vector<float> inputs(50 * 11);
  EXPECT_THROW(engine->head_inputs(ensemble, 0, data.set().coordinates, {inputs.data(), 50, 11}), UsageError);
  EXPECT_THROW(engine->head_inputs(ensemble, 2, data.set().coordinates, {inputs.data(), 50, 12}), UsageError);
}

}  // namespace
}  // namespace drift
