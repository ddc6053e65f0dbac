#include "gp/kernel.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>

#include "core/every_instruction_set.h"
#include "drift/error.h"
#include "features/covariance.h"
#include "gp/gp_testing.h"
#include "gp/sphere_table.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-14;    // of a covariance of size one
constexpr double kDifferences = 2e-8;  // central differences with step 1e-5
constexpr double kTable = 5e-8;        // what sphere_table.h promises

std::vector<Covariance> planar_covariances() {
  return {{Family::matern, 0.5}, {Family::matern, 1.5}, {Family::matern, 2.5}, {Family::squared_exponential, 0.0}};
}

struct Case {
  KernelSpec spec;
  KernelParameters parameters;
  MatrixXd x, z;
  const char* name;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  const Covariance matern;
  const MatrixXd x = plane_points(3, 7, 1);
  const MatrixXd z = plane_points(3, 5, 2);
  const Eigen::Vector3d two(std::log(0.4), std::log(0.8), std::log(1.3));
  for (const Covariance& covariance : planar_covariances()) {
    out.push_back({space_time_kernel(Space::plane, 2, true, covariance, true), two, x, z, "joint"});
  }
  out.push_back({space_time_kernel(Space::plane, 2, true, matern, false), two, x, z, "product"});
  out.push_back({space_time_kernel(Space::plane, 2, false, matern, true), two.tail(2), x.topRows(2), z.topRows(2), "space"});
  out.push_back({planar_kernel(3, {Family::matern, 2.5}), Eigen::Vector4d(-0.5, 0.1, 0.4, 0.2), x, z, "hidden"});
  const MatrixXd s = sphere_points(true, 7, 3);
  const MatrixXd t = sphere_points(true, 5, 4);
  for (const Covariance& covariance : {Covariance{Family::matern, 1.5}, Covariance{Family::squared_exponential, 0.0}}) {
    out.push_back({space_time_kernel(Space::sphere, 3, true, covariance, false), two, s, t, "sphere and time"});
  }
  return out;
}

TEST(Kernel, AgreesWithTheCovarianceOfItsDistance) {
  const MatrixXd x = plane_points(3, 9, 1, 3.0);
  for (const Covariance& covariance : planar_covariances()) {
    const Kernel kernel(space_time_kernel(Space::plane, 2, true, covariance, true), Eigen::Vector3d(-0.3, 0.4, 0.7));
    const Kernel product(space_time_kernel(Space::plane, 2, true, covariance, false), Eigen::Vector3d(-0.3, 0.4, 0.7));
    cpu::for_every_instruction_set([&] {
      MatrixXd joint(9, 9);
      MatrixXd apart(9, 9);
      kernel.symmetric(x, joint);
      product.matrix(x, x, apart);
      for (Index i = 0; i < 9; ++i) {
        for (Index j = 0; j < 9; ++j) {
          const VectorXd d = x.col(i) - x.col(j);
          const double space = d.head(2).norm() * std::exp(0.3);
          const double time = std::abs(d[2]) * std::exp(-0.4);
          const double variance = std::exp(1.4);
          EXPECT_NEAR(joint(i, j), variance * planar_covariance(covariance, std::hypot(space, time)), 5 * kRounding);
          EXPECT_NEAR(apart(i, j), variance * planar_covariance(covariance, space) * planar_covariance(covariance, time),
                      5 * kRounding);
        }
      }
    });
  }
}

TEST(Kernel, VanishesAtLargeDistancesWithoutWarning) {
  const Kernel kernel(planar_kernel(1, {}), Eigen::Vector2d(0.0, 0.0));
  const double far = kernel(MatrixXd::Constant(1, 1, 1e9), MatrixXd::Zero(1, 1));
  EXPECT_EQ(far, 0.0);
}

TEST(Kernel, OnTheSphereAgreesWithTheLegendreSum) {
  for (const Covariance& covariance : {Covariance{Family::matern, 0.5}, Covariance{Family::matern, 1.5},
                                       Covariance{Family::matern, 2.5}, Covariance{Family::squared_exponential, 0.0}}) {
    for (const double lengthscale : {0.02, 0.1, 0.5, 3.0}) {
      const Kernel kernel(space_time_kernel(Space::sphere, 3, false, covariance, true),
                          Eigen::Vector2d(std::log(lengthscale), 0));
      const double tail = covariance.family == Family::matern ? SphereTable::kTailMass : SphereTable::kHeatTailMass;
      const SphericalSpectrum spectrum(covariance, lengthscale, tail, SphereTable::kMaxDegree);
      const Eigen::Vector3d pole(0, 0, 1);
      for (int i = 0; i <= 200; ++i) {
        const double angle = M_PI * std::pow(i / 200.0, 2.5);  // most of them near
        const Eigen::Vector3d s(std::sin(angle), 0, std::cos(angle));
        const double sum = spherical_covariance(spectrum, std::cos(angle));
        EXPECT_NEAR(kernel(pole, s), sum, kTable) << covariance.nu << ' ' << lengthscale << ' ' << angle;
      }
    }
  }
}

TEST(Kernel, OnTheSphereDoesNotChangeUnderRotation) {
  const Kernel kernel(space_time_kernel(Space::sphere, 3, false, {}, true), Eigen::Vector2d(-1.0, 0));
  const MatrixXd x = sphere_points(false, 6, 5);
  const Eigen::Matrix3d turn = Eigen::AngleAxisd(0.8, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  MatrixXd before(6, 6);
  MatrixXd after(6, 6);
  kernel.symmetric(x, before);
  kernel.symmetric(turn * x, after);
  EXPECT_LT((before - after).cwiseAbs().maxCoeff(), kTable);
}

TEST(Kernel, IsPositiveDefinite) {
  for (const Case& c : cases()) {
    const Kernel kernel(c.spec, c.parameters);
    MatrixXd k(c.x.cols(), c.x.cols());
    kernel.symmetric(c.x, k);
    EXPECT_EQ(k, k.transpose());
    EXPECT_NEAR(k(0, 0), kernel.variance(), 2 * kTable);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixXd>(k).eigenvalues().minCoeff(), 0.0) << c.name;
    MatrixXd lower = MatrixXd::Zero(k.rows(), k.cols());
    kernel.lower(c.x, lower);
    EXPECT_EQ(lower, MatrixXd(k.triangularView<Eigen::Lower>())) << c.name;
  }
}

// sum of weights times k, and what backward() says of it.
struct Loss {
  const Case& c;
  MatrixXd weights;

  double at(const KernelParameters& parameters, const MatrixXd& x, const MatrixXd& z) const {
    MatrixXd k(x.cols(), z.cols());
    Kernel(c.spec, parameters).matrix(x, z, k);
    return k.cwiseProduct(weights).sum();
  }
};

TEST(Kernel, GradientsAgreeWithFiniteDifferences) {
  for (const Case& c : cases()) {
    const Loss loss{c, plane_points(c.x.cols(), c.z.cols(), 9)};
    KernelParameters gradient = KernelParameters::Zero(c.parameters.size());
    Kernel(c.spec, c.parameters).backward(c.x, c.z, loss.weights, gradient, nullptr, nullptr);
    const auto f = [&](const VectorXd& p) { return loss.at(p, c.x, c.z); };
    // Tables of two lengthscales differ in their interpolation error, which the step divides.
    const bool sphere = c.spec.parts[0].space == Space::sphere;
    const double step = sphere ? 1e-3 : 1e-5;
    const double allowed = sphere ? 1e-5 : kDifferences;
    EXPECT_LT(gradient_error(f, c.parameters, gradient, step), allowed) << c.name;
    KernelParameters wrong = gradient;
    wrong[0] = -wrong[0];
    EXPECT_GT(gradient_error(f, c.parameters, wrong, step), 0.01) << c.name;
  }
}

// Points on the sphere are moved along it.
MatrixXd moved(const Case& c, const MatrixXd& x, const VectorXd& step) {
  MatrixXd out = x + Eigen::Map<const MatrixXd>(step.data(), x.rows(), x.cols());
  if (c.spec.parts[0].space == Space::sphere) {
    for (Index j = 0; j < x.cols(); ++j) out.col(j).head(3).normalize();
  }
  return out;
}

TEST(Kernel, GradientsOfPointsAgreeWithFiniteDifferences) {
  for (const Case& c : cases()) {
    const Loss loss{c, plane_points(c.x.cols(), c.z.cols(), 10)};
    KernelParameters gradient = KernelParameters::Zero(c.parameters.size());
    MatrixXd by_x = MatrixXd::Zero(c.x.rows(), c.x.cols());
    MatrixXd by_z = MatrixXd::Zero(c.z.rows(), c.z.cols());
    Kernel(c.spec, c.parameters).backward(c.x, c.z, loss.weights, gradient, &by_x, &by_z);
    const auto of_x = [&](const VectorXd& step) { return loss.at(c.parameters, moved(c, c.x, step), c.z); };
    const auto of_z = [&](const VectorXd& step) { return loss.at(c.parameters, c.x, moved(c, c.z, step)); };
    EXPECT_LT(gradient_error(of_x, VectorXd::Zero(by_x.size()), by_x.reshaped(), 1e-6), 1e-6) << c.name;
    EXPECT_LT(gradient_error(of_z, VectorXd::Zero(by_z.size()), by_z.reshaped(), 1e-6), 1e-6) << c.name;
    MatrixXd wrong = -by_z;
    EXPECT_GT(gradient_error(of_z, VectorXd::Zero(by_z.size()), wrong.reshaped(), 1e-6), 0.1) << c.name;
  }
}

TEST(Kernel, GradientOfASymmetricMatrixIsThatOfTheWhole) {
  for (const Case& c : cases()) {
    const MatrixXd half = plane_points(c.x.cols(), c.x.cols(), 12);
    const MatrixXd weights = half + half.transpose();
    const Kernel kernel(c.spec, c.parameters);
    KernelParameters whole = KernelParameters::Zero(c.parameters.size());
    KernelParameters lower = whole;
    kernel.backward(c.x, c.x, weights, whole, nullptr, nullptr);
    kernel.backward_symmetric(c.x, weights.triangularView<Eigen::Lower>().toDenseMatrix(), lower);
    EXPECT_LT((whole - lower).cwiseAbs().maxCoeff(), 1e-12) << c.name;
  }
}

TEST(Kernel, BackwardAddsToWhatIsThere) {
  const Case c = cases().front();
  const MatrixXd weights = plane_points(7, 5, 11);
  KernelParameters once = KernelParameters::Zero(3);
  Kernel(c.spec, c.parameters).backward(c.x, c.z, weights, once, nullptr, nullptr);
  KernelParameters twice = once;
  Kernel(c.spec, c.parameters).backward(c.x, c.z, weights, twice, nullptr, nullptr);
  EXPECT_LT((twice - 2.0 * once).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Kernel, RejectsWhatCannotBe) {
  EXPECT_THROW(Kernel(planar_kernel(2, {Family::matern, 1.0}), VectorXd::Zero(3)), UsageError);
  EXPECT_THROW(Kernel(planar_kernel(2, {}), VectorXd::Zero(2)), UsageError);
  EXPECT_THROW(Kernel(planar_kernel(2, {}), VectorXd::Constant(3, NAN)), Error);
  KernelSpec twice = planar_kernel(2, {});
  twice.parts.push_back(twice.parts[0]);
  EXPECT_THROW(Kernel(twice, VectorXd::Zero(3)), UsageError);
}

}  // namespace
}  // namespace drift::gp
