#include "gp/variational_layer.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "drift/error.h"
#include "gp/variational_layer_parts.h"
#include "gp/variational_layer_testing.h"

namespace drift::gp {
namespace {

constexpr double kSlopes = 1e-6;  // central differences with step 1e-5 are good to about 1e-9 of the slope
constexpr double kMixed = 2e-4;   // float32 products of some hundred terms, through an L^-1 of norm a few hundred

LayerSpec planar_spec(int outputs) {
  LayerSpec spec;
  spec.kernel = space_time_kernel(Space::plane, 2, true, {}, true);
  spec.outputs = outputs;
  spec.where = "test";
  return spec;
}

LayerSpec spherical_spec(int outputs) {
  LayerSpec spec;
  spec.kernel = space_time_kernel(Space::sphere, 3, true, {}, false);
  spec.outputs = outputs;
  spec.skip = normals(4, outputs, 77);
  spec.where = "test";
  return spec;
}

// A function of everything a layer gives: sum of e * mean + w * variance, and some of the divergence.
struct Objective {
  LayerSpec spec;
  Eigen::MatrixXd x, e, w;

  Objective(LayerSpec s, Eigen::Index points)
      : spec(std::move(s)),
        x(places(spec.kernel, points, 5)),
        e(normals(points, spec.outputs, 6)),
        w(normals(points, spec.outputs, 7)) {}

  template <class Real>
  double value(const LayerParameters<Real>& parameters, const Eigen::MatrixXd& at) const {
    VariationalLayer<Real> layer(spec, parameters, 1);
    LayerWork<Real> work;
    layer.forward(at, work);
    return (e.array() * work.mean.array()).sum() + (w.array() * work.variance.array()).sum() + 0.3 * layer.divergence();
  }
  template <class Real>
  LayerParameters<Real> gradient(const LayerParameters<Real>& parameters, Eigen::MatrixXd* dx, int threads = 1) const {
    VariationalLayer<Real> layer(spec, parameters, threads);
    LayerWork<Real> work;
    layer.forward(x, work);
    LayerParameters<Real> out = parameters.zero();
    if (dx != nullptr) *dx = Eigen::MatrixXd::Zero(x.rows(), x.cols());
    layer.backward(e, w, work, {.gradient = &out, .inputs = dx});
    layer.add_divergence_gradient(0.3, out);
    return out;
  }
};

double error_in_parameters(const Objective& objective, const LayerParameters<double>& at, const Eigen::VectorXd& gradient) {
  return difference_from_slopes(
      [&](const Eigen::VectorXd& numbers) {
        LayerParameters<double> moved = at;
        unflatten(numbers, 0, moved);
        return objective.value(moved, objective.x);
      },
      flat(at), gradient);
}

TEST(VariationalLayer, GradientsOnThePlaneAgreeWithDifferencesInEveryParameter) {
  const Objective objective(planar_spec(2), 9);
  const auto at = random_layer<double>(objective.spec, 6, 1);
  EXPECT_LT(error_in_parameters(objective, at, flat(objective.gradient(at, nullptr))), kSlopes);
}

TEST(VariationalLayer, GradientCheckNoticesAFlippedSign) {
  const Objective objective(planar_spec(1), 9);
  const auto at = random_layer<double>(objective.spec, 6, 1);
  const Eigen::VectorXd right = flat(objective.gradient(at, nullptr));
  for (const Eigen::Index i : {Eigen::Index{0}, right.size() / 2, right.size() - 1}) {
    Eigen::VectorXd wrong = right;
    wrong[i] = -wrong[i];
    EXPECT_GT(error_in_parameters(objective, at, wrong), 10 * kSlopes) << i;
  }
}

TEST(VariationalLayer, GradientsInTheInputsAgreeWithDifferences) {
  const Objective objective(planar_spec(3), 7);
  const auto at = random_layer<double>(objective.spec, 6, 2);
  Eigen::MatrixXd dx;
  objective.gradient(at, &dx);
  const double error = difference_from_slopes(
      [&](const Eigen::VectorXd& numbers) {
        return objective.value(at, Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 3, 7)));
      },
      Eigen::Map<const Eigen::VectorXd>(objective.x.data(), objective.x.size()),
      Eigen::Map<const Eigen::VectorXd>(dx.data(), dx.size()));
  EXPECT_LT(error, kSlopes);
}

// Points of the sphere move along it: the gradient along a tangent, against differences of the moved and normalised point.
TEST(VariationalLayer, GradientsOnTheSphereAgreeWithDifferencesAlongIt) {
  const Objective objective(spherical_spec(2), 8);
  const auto at = random_layer<double>(objective.spec, 6, 3);
  Eigen::MatrixXd dx;
  const auto gradient = objective.gradient(at, &dx);
  const auto normalised = [](Eigen::MatrixXd x) {
    for (Eigen::Index i = 0; i < x.cols(); ++i) x.col(i).head(3).normalize();
    return x;
  };
  Eigen::MatrixXd direction = normals(4, 6, 8);
  for (Eigen::Index i = 0; i < 6; ++i) {
    const Eigen::Vector3d s = at.inducing.col(i).head(3);
    direction.col(i).head(3) -= s * s.dot(direction.col(i).head(3));
  }
  const auto moved = [&](double step) {
    auto out = at;
    out.inducing = normalised(at.inducing + step * direction);
    return objective.value(out, objective.x);
  };
  const double slope = (moved(1e-4) - moved(-1e-4)) / 2e-4, found = (gradient.inducing.array() * direction.array()).sum();
  // The table of a spherical covariance is good to about 1e-6 of its slope.
  EXPECT_NEAR(found, slope, 1e-4 * gradient.inducing.norm());
  for (Eigen::Index k = 0; k < at.kernel.size(); ++k) {
    auto high = at, low = at;
    high.kernel[k] += 1e-4;
    low.kernel[k] -= 1e-4;
    const double difference = (objective.value(high, objective.x) - objective.value(low, objective.x)) / 2e-4;
    EXPECT_NEAR(gradient.kernel[k], difference, 1e-4 * gradient.kernel.norm()) << k;
  }
}

// The formulas as they stand, with Eigen's own factor and plain products.
TEST(VariationalLayer, ForwardIsWhatTheFormulasSay) {
  const Objective objective(spherical_spec(2), 300);  // more than one slice
  const auto at = random_layer<double>(objective.spec, 140, 4);
  VariationalLayer<double> layer(objective.spec, at, 2);
  LayerWork<double> work;
  layer.forward(objective.x, work);
  Eigen::MatrixXd kuu(140, 140), kuf(140, 300);
  layer.kernel().matrix(at.inducing, at.inducing, kuu);
  layer.kernel().matrix(at.inducing, objective.x, kuf);
  kuu.diagonal().array() += objective.spec.jitter * layer.kernel().variance();
  const Eigen::MatrixXd a = kuu.llt().matrixL().solve(kuf);
  for (Eigen::Index p = 0; p < 2; ++p) {
    const Eigen::VectorXd mean = a.transpose() * at.mean.col(p) + objective.x.transpose() * objective.spec.skip.col(p);
    const Eigen::MatrixXd s = at.root[static_cast<std::size_t>(p)];
    const Eigen::VectorXd variance = layer.kernel().variance() - a.colwise().squaredNorm().transpose().array() +
                                     (s.transpose() * a).colwise().squaredNorm().transpose().array();
    EXPECT_LT((work.mean.col(p) - mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((work.variance.col(p) - variance).cwiseAbs().maxCoeff(), 1e-9);
  }
}

// dS = tril(2 A diag(w) A' S), of so many inducing points that a row of it is the work of two tasks.
TEST(VariationalLayer, RootsGradientIsWhatTheFormulaSays) {
  const Objective objective(planar_spec(1), 30);
  const auto at = random_layer<double>(objective.spec, 600, 4);
  VariationalLayer<double> layer(objective.spec, at, 2);
  LayerWork<double> work;
  layer.forward(objective.x, work);
  LayerParameters<double> gradient = at.zero();
  layer.backward(objective.e, objective.w, work, {.gradient = &gradient, .kernel = false});
  Eigen::MatrixXd kuf(600, 30);
  layer.kernel().matrix(at.inducing, objective.x, kuf);
  const Eigen::MatrixXd a = layer.lower().triangularView<Eigen::Lower>().solve(kuf);
  Eigen::MatrixXd expected = 2.0 * a * objective.w.col(0).asDiagonal() * a.transpose() * at.root[0];
  expected.triangularView<Eigen::StrictlyUpper>().setZero();
  EXPECT_LT((gradient.root[0] - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.cwiseAbs().maxCoeff());
}

TEST(VariationalLayer, RenewedIsAsMadeAnew) {
  const Objective objective(planar_spec(2), 100);
  const auto before = random_layer<float>(objective.spec, 150, 4), after = random_layer<float>(objective.spec, 150, 14);
  VariationalLayer<float> layer(objective.spec, before, 1);
  LayerWork<float> work;
  LayerParameters<float> gradient = before.zero();
  layer.forward(objective.x, work);
  layer.backward(objective.e, objective.w, work, {.gradient = &gradient});
  EXPECT_NE(flat(gradient), flat(objective.gradient(after, nullptr)));
  layer.renew(after);
  gradient = after.zero();
  layer.forward(objective.x, work);
  layer.backward(objective.e, objective.w, work, {.gradient = &gradient});
  layer.add_divergence_gradient(0.3, gradient);
  EXPECT_EQ(flat(gradient), flat(objective.gradient(after, nullptr)));
}

TEST(VariationalLayer, DivergenceIsThatOfGaussians) {
  const Objective objective(planar_spec(1), 3);
  const auto at = random_layer<double>(objective.spec, 5, 5);
  const Eigen::MatrixXd s = at.root[0], covariance = s * s.transpose();
  const double expected = 0.5 * (covariance.trace() + at.mean.squaredNorm() - 5.0 - std::log(covariance.determinant()));
  EXPECT_NEAR(VariationalLayer<double>(objective.spec, at, 1).divergence(), expected, 1e-10);
}

TEST(VariationalLayer, MixedPrecisionAgreesWithDouble) {
  const Objective objective(planar_spec(2), 400);
  auto exact = random_layer<double>(objective.spec, 300, 6);
  LayerParameters<float> mixed{exact.inducing, exact.kernel, exact.mean, {}};
  for (RowMatrix<double>& s : exact.root) {
    mixed.root.push_back(s.cast<float>());
    s = mixed.root.back().cast<double>();
  }
  VariationalLayer<double> in_double(objective.spec, exact, 2);
  VariationalLayer<float> in_float(objective.spec, mixed, 2);
  LayerWork<double> a;
  LayerWork<float> b;
  in_double.forward(objective.x, a);
  in_float.forward(objective.x, b);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-5 * a.variance.maxCoeff());
  Eigen::MatrixXd dx_double, dx_float;
  const auto g = objective.gradient(exact, &dx_double);
  const auto h = objective.gradient(mixed, &dx_float);
  const auto relative = [](const auto& x, const auto& y) { return (x - y).norm() / x.norm(); };
  EXPECT_LT(relative(g.inducing, h.inducing), kMixed);
  EXPECT_LT(relative(g.kernel, h.kernel), kMixed);
  EXPECT_LT(relative(g.mean, h.mean), kMixed);
  EXPECT_LT(relative(dx_double, dx_float), kMixed);
  EXPECT_LT(relative(g.root[1], RowMatrix<double>(h.root[1].cast<double>())), kMixed);
}

TEST(VariationalLayer, AQuickSolveIsTakenWhereTheFactorBearsItAndAgreesWithDouble) {
  LayerSpec spec = planar_spec(2);
  const Eigen::MatrixXd x = places(spec.kernel, 300, 5);
  for (const double lengthscale : {0.3, 30.0}) {
    auto at = random_layer<float>(spec, 250, 6);
    at.kernel.head(2).setConstant(std::log(lengthscale));
    const VariationalLayer<float> layer(spec, at, 2);
    LayerWork<float> quick, precise;
    layer.forward(x, quick, VariationalLayer<float>::Solve::quick);
    layer.forward(x, precise);
    EXPECT_EQ(quick.quick, lengthscale < 1.0);  // with long lengthscales the points explain each other
    EXPECT_LT((quick.mean - precise.mean).cwiseAbs().maxCoeff(), 1e-4 * precise.mean.cwiseAbs().maxCoeff());
    EXPECT_LT((quick.variance - precise.variance).cwiseAbs().maxCoeff(), 1e-5 * layer.kernel().variance());
  }
}

TEST(VariationalLayer, NothingDependsOnTheNumberOfThreads) {
  const Objective objective(planar_spec(2), 700);
  const auto at = random_layer<float>(objective.spec, 290, 7);
  Eigen::MatrixXd one_dx, three_dx;
  const Eigen::VectorXd one = flat(objective.gradient(at, &one_dx, 1)), three = flat(objective.gradient(at, &three_dx, 3));
  EXPECT_EQ(one, three);
  EXPECT_EQ(one_dx, three_dx);
}

TEST(VariationalLayer, ANumberThatIsNotFiniteIsAnErrorThatSaysWhere) {
  const Objective objective(planar_spec(1), 3);
  auto at = random_layer<double>(objective.spec, 5, 5);
  at.inducing(0, 2) = std::numeric_limits<double>::quiet_NaN();
  try {
    VariationalLayer<double>(objective.spec, at, 1);
    FAIL() << "a NaN was factored";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("test"), std::string::npos) << error.what();
  }
}

TEST(FactorOnThreads, AgreesWithEigenAndInverts) {
  const Eigen::MatrixXd root = normals(600, 700, 9);
  const Eigen::MatrixXd matrix = root * root.transpose();
  Eigen::MatrixXd lower = matrix;
  ASSERT_TRUE(factor_on_threads(lower, 3));
  const Eigen::MatrixXd expected = matrix.llt().matrixL();
  EXPECT_LT((lower - expected).cwiseAbs().maxCoeff(), 1e-10 * expected.maxCoeff());
  Eigen::MatrixXd inverse;
  invert_on_threads(lower, 3, inverse);
  EXPECT_LT((inverse * lower - Eigen::MatrixXd::Identity(600, 600)).cwiseAbs().maxCoeff(), 1e-9);
  Eigen::MatrixXd negative = matrix;
  negative(500, 500) = -1.0;
  EXPECT_FALSE(factor_on_threads(negative, 2));
}

}  // namespace
}  // namespace drift::gp
