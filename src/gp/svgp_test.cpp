#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "drift/error.h"
#include "gp/deep_model.h"
#include "gp/inducing.h"
#include "gp/svgp_adam.h"
#include "gp/svgp_natural.h"
#include "gp/svgp_setup.h"
#include "gp/svgp_testing.h"
#include "gp/svgp_train.h"

namespace drift::gp {
namespace {

constexpr double kExact = 1e-5;    // relative jitter of 1e-9 and double precision
constexpr double kInFloat = 1e-3;  // S in float32

// One layer with inducing points z, and a natural step of size 1 on all observations.
template <class Real>
struct Solved {
  DeepSpec spec;
  DeepParameters<Real> parameters;
  double bound = 0.0;

  Solved(const KernelSpec& kernel, const KernelParameters& values, const Eigen::MatrixXd& z, const DeepBatch& batch,
         double noise_sd, double jitter = 1e-9) {
    LayerSpec layer;
    layer.kernel = kernel;
    layer.jitter = jitter;
    layer.where = "test";
    spec.layers = {layer};
    parameters.layers.push_back(initial_layer<Real>(layer, z, values, 1.0));
    parameters.log_scale = std::log(noise_sd);
    DeepModel<Real> model(spec, 2);
    model.evaluate(parameters, batch, {}, {});
    NaturalSteps natural(parameters.layers[0]);
    natural.template step<Real>(model.last_layer(), 1.0, parameters.layers[0], 2, "test");
    bound = -model.evaluate(parameters, batch, {}, {});
  }

  void predict(const Eigen::MatrixXd& at, Eigen::VectorXd& mean, Eigen::VectorXd& sd) const {
    DeepPredictor<Real> predictor(spec, parameters, 1, 2);
    mean.resize(at.cols());
    sd.resize(at.cols());
    const auto n = static_cast<std::size_t>(at.cols());
    predictor.predict(at, {mean.data(), n}, {sd.data(), n});
    sd = sd.cwiseSqrt();
  }
};

struct Problem {
  KernelSpec spec;
  KernelParameters kernel;
  DeepBatch batch;
  Eigen::MatrixXd at;
  double noise_sd = 0.3;

  explicit Problem(Space space, bool joint = true) {
    const bool sphere = space == Space::sphere;
    spec = space_time_kernel(space, sphere ? 3 : 2, true, {}, joint);
    kernel.resize(3);
    kernel << std::log(sphere ? 0.4 : 0.7), std::log(0.9), std::log(1.2);
    batch.x = places(spec, 60, 11);
    batch.y = (2.0 * batch.x.row(0).array()).sin().transpose().matrix() + batch.x.row(2).transpose() + 0.3 * normals(60, 1, 12);
    at = places(spec, 25, 13);
  }
  ExactReference exact() const {
    return {Kernel(spec, kernel), batch.x, batch.y, Eigen::VectorXd::Constant(60, noise_sd * noise_sd), at};
  }
};

template <class Real>
void expect_exact(const Problem& problem, double tolerance) {
  const Solved<Real> solved(problem.spec, problem.kernel, problem.batch.x, problem.batch, problem.noise_sd);
  const ExactReference exact = problem.exact();
  Eigen::VectorXd mean, sd;
  solved.predict(problem.at, mean, sd);
  EXPECT_LT((mean - exact.mean).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((sd - exact.sd).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_NEAR(solved.bound, exact.log_evidence, 60 * tolerance);
}

TEST(Svgp, WithInducingPointsAtTheObservationsEqualsTheExactProcess) {
  expect_exact<double>(Problem(Space::plane), kExact);
  expect_exact<double>(Problem(Space::plane, false), kExact);
  expect_exact<double>(Problem(Space::sphere), kExact);
  expect_exact<float>(Problem(Space::plane), kInFloat);
  expect_exact<float>(Problem(Space::sphere), kInFloat);
}

TEST(Svgp, KnownErrorsAddToTheNoiseAsInTheExactProcess) {
  Problem problem(Space::plane);
  problem.batch.known = 0.2 * normals(60, 1, 14).array().square();
  const Solved<double> solved(problem.spec, problem.kernel, problem.batch.x, problem.batch, 0.3);
  const ExactReference exact(Kernel(problem.spec, problem.kernel), problem.batch.x, problem.batch.y,
                             problem.batch.known.array() + 0.09, problem.at);
  Eigen::VectorXd mean, sd;
  solved.predict(problem.at, mean, sd);
  EXPECT_LT((mean - exact.mean).cwiseAbs().maxCoeff(), kExact);
  EXPECT_LT((sd - exact.sd).cwiseAbs().maxCoeff(), kExact);
  EXPECT_NEAR(solved.bound, exact.log_evidence, 60 * kExact);
}

TEST(Svgp, TheBoundIsBelowTheExactEvidenceAndRisesWithInducingPoints) {
  const Problem problem(Space::plane);
  const double evidence = problem.exact().log_evidence;
  double before = -1e300;
  for (const Eigen::Index m : {5, 20, 45}) {
    const Solved<double> solved(problem.spec, problem.kernel, problem.batch.x.leftCols(m), problem.batch, problem.noise_sd);
    EXPECT_LT(solved.bound, evidence - 1e-3) << m;
    EXPECT_GT(solved.bound, before) << m;
    before = solved.bound;
  }
}

TEST(Svgp, ANaturalStepGivesTheHighestBoundAndNoOther) {
  const Problem problem(Space::plane);
  const Eigen::MatrixXd z = problem.batch.x.leftCols(20);
  const Solved<double> solved(problem.spec, problem.kernel, z, problem.batch, problem.noise_sd);
  DeepModel<double> model(solved.spec, 1);
  DeepParameters<double> gradient = solved.parameters.zero();
  model.evaluate(solved.parameters, problem.batch, {}, {.gradient = &gradient});
  // A stationary point: slopes in m and S vanish beside those of the expected log likelihood alone.
  EXPECT_LT(gradient.layers[0].mean.norm(), 1e-6);
  EXPECT_LT(gradient.layers[0].root[0].norm(), 1e-6);
  DeepParameters<double> other = solved.parameters;
  other.layers[0].mean *= 1.05;
  EXPECT_LT(-model.evaluate(other, problem.batch, {}, {}), solved.bound);
}

// Every trained number of a two-layer process at once; a one-layer process is its last layer.
double model_error(const LikelihoodSpec& likelihood, int layers, bool flip) {
  Problem problem(Space::plane);
  problem.batch.x.conservativeResize(3, 7);
  problem.batch.y.conservativeResize(7);
  problem.batch.known = 0.5 * normals(7, 1, 15).array().square();
  problem.batch.all_over_batch = 3.0;
  DeepSpec spec;
  spec.likelihood = likelihood;
  spec.draws = 3;
  DeepParameters<double> at;
  for (int l = 0; l < layers; ++l) {
    LayerSpec layer;
    layer.kernel = planar_kernel(3, {});
    layer.where = "test";
    layer.outputs = l + 1 == layers ? 1 : 3;
    if (l + 1 < layers) layer.skip = skip_matrix(problem.batch.x, 3);
    at.layers.push_back(random_layer<double>(layer, 5, 20 + static_cast<std::uint64_t>(l)));
    spec.layers.push_back(layer);
  }
  at.log_scale = -0.4;
  DeepModel<double> model(spec, 1);
  DeepParameters<double> gradient = at.zero();
  const DrawKey key{.seed = 3, .step = 5};
  model.evaluate(at, problem.batch, key, {.gradient = &gradient});
  const auto all = [](const DeepParameters<double>& parameters) {
    Eigen::VectorXd out(1);
    out[0] = parameters.log_scale;
    for (const auto& layer : parameters.layers) {
      const Eigen::VectorXd part = flat(layer);
      out.conservativeResize(out.size() + part.size());
      out.tail(part.size()) = part;
    }
    return out;
  };
  Eigen::VectorXd found = all(gradient);
  if (flip) found[2] = -found[2];
  return difference_from_slopes(
      [&](const Eigen::VectorXd& numbers) {
        DeepParameters<double> moved = at;
        moved.log_scale = numbers[0];
        Eigen::Index next = 1;
        for (auto& layer : moved.layers) next = unflatten(numbers, next, layer);
        return model.evaluate(moved, problem.batch, key, {});
      },
      all(at), found);
}

TEST(DeepModel, GradientsAgreeWithDifferencesForEveryLikelihoodAndDepth) {
  for (const LikelihoodKind kind : {LikelihoodKind::gaussian, LikelihoodKind::student, LikelihoodKind::huber}) {
    for (const int layers : {1, 2, 3}) {
      // Huber's second derivative jumps, which differences notice at a few quadrature nodes.
      const double tolerance = kind == LikelihoodKind::huber ? 1e-5 : 2e-6;
      EXPECT_LT(model_error({.kind = kind}, layers, false), tolerance) << static_cast<int>(kind) << " " << layers;
    }
  }
  EXPECT_GT(model_error({}, 2, true), 1e-4);  // the control
}

TEST(Inducing, PointsAreDistinctAndCoverBetterThanChance) {
  const Eigen::MatrixXd x = normals(2, 3000, 30);
  const auto worst = [&](bool kmeans) {
    const Eigen::MatrixXd z = choose_inducing(x, Eigen::VectorXd::Ones(2), {.count = 60, .kmeans = kmeans});
    EXPECT_EQ(z.cols(), 60);
    double sum = 0.0;
    for (Eigen::Index i = 0; i < x.cols(); ++i) sum += (z.colwise() - x.col(i)).colwise().squaredNorm().minCoeff();
    return sum;
  };
  EXPECT_LT(worst(true), 0.8 * worst(false));
}

TEST(Inducing, NoTwoCoincideAndDuplicatesGiveFewer) {
  Eigen::MatrixXd x(2, 40);
  for (Eigen::Index i = 0; i < 40; ++i) x.col(i) << static_cast<double>(i % 8), 1.0;
  for (const bool kmeans : {true, false}) {
    EXPECT_EQ(choose_inducing(x, Eigen::VectorXd::Ones(2), {.count = 20, .kmeans = kmeans}).cols(), 8);
  }
  EXPECT_EQ(choose_inducing(x.leftCols(1), Eigen::VectorXd::Ones(2), {.count = 5}).cols(), 1);
}

TEST(Inducing, OnTheSphereTheyStayThere) {
  const Eigen::MatrixXd x = places(space_time_kernel(Space::sphere, 3, true, {}, false), 500, 31);
  const Eigen::MatrixXd z = choose_inducing(x, Eigen::VectorXd::Ones(4), {.count = 30, .sphere_first = 0});
  EXPECT_LT((z.topRows(3).colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-12);
}

TEST(SkipMatrix, IsTheIdentityPaddedOrPrincipalDirections) {
  const Eigen::MatrixXd x = Eigen::Vector3d(0.1, 5.0, 1.0).asDiagonal() * normals(3, 400, 32);
  EXPECT_EQ(skip_matrix(x, 3), Eigen::MatrixXd::Identity(3, 3));
  EXPECT_EQ(skip_matrix(x, 5).leftCols(3), Eigen::MatrixXd::Identity(3, 3));
  EXPECT_EQ(skip_matrix(x, 5).rightCols(2).norm(), 0.0);
  const Eigen::MatrixXd two = skip_matrix(x, 2);
  EXPECT_GT(std::abs(two(1, 0)), 0.99);
  EXPECT_GT(std::abs(two(2, 1)), 0.99);
}

}  // namespace
}  // namespace drift::gp
