// The search finds the direction in which a field is stretched, and a second structure, in fields drawn from a process that has
// them.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "process/kriging.h"
#include "process/process.h"

namespace drift {
namespace {

double matern(double nu, double r) {
  const double z = std::sqrt(2.0 * nu) * r;
  return nu == 0.5 ? std::exp(-z) : (1.0 + z) * std::exp(-z);
}

// 1,100 places at random in a square of side 2, or a grid of 40 by 40, in folds of blocks of a tenth of it, and one draw of the
// process at them.
struct Drawn {
  std::vector<float> coordinates, values;
  std::vector<std::uint8_t> fold;
  PlaceData data() const {
    return {.coordinates = {coordinates.data(), values.size(), 2}, .values = values, .fold = fold, .groups = 100};
  }
};
enum class Sampling { random, grid };
Drawn drawn(const ProcessParameters& p, std::uint64_t seed, Sampling sampling = Sampling::random) {
  const bool grid = sampling == Sampling::grid;
  const Eigen::Index count = grid ? 1600 : 1100;
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  Drawn out;
  Eigen::MatrixXd q(count, 3);
  Eigen::VectorXd white(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    double x = 2.0 * stream.uniform() - 1.0, y = 2.0 * stream.uniform() - 1.0;
    if (grid) x = 0.05 * (static_cast<double>(i % 40) + 0.5) - 1.0, y = 0.05 * (static_cast<double>(i / 40) + 0.5) - 1.0;
    out.coordinates.push_back(static_cast<float>(x)), out.coordinates.push_back(static_cast<float>(y));
    const int column = static_cast<int>(5.0 * (x + 1.0)), row = static_cast<int>(5.0 * (y + 1.0));
    out.fold.push_back(static_cast<std::uint8_t>((column + 2 * row) % 5));
    q.row(i) = (moving_frame(p) * Eigen::Vector3d(x, y, 0.0)).transpose();
    white[i] = stream.normal();
  }
  Eigen::MatrixXd k(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const double r = (q.row(i) - q.row(j)).norm();
      k(i, j) = p.sill * ((1.0 - p.second_share) * matern(p.nu, r) + p.second_share * matern(1.5, r / p.second_length));
    }
    k(i, i) += p.nugget;
  }
  const Eigen::VectorXd values = k.llt().matrixL() * white;
  out.values.assign(values.data(), values.data() + count);
  return out;
}

ProcessParameters fitted(const Drawn& drawn) {
  ProcessSettings settings;
  settings.targets = 500;
  settings.fit_neighbours = 40;
  return fit_process(Space::plane, false, drawn.data(), settings).parameters;
}

// Of the longer axis from x, and how much longer it is.
struct Stretch {
  double degrees, ratio;
};
Stretch stretch_of(const ProcessParameters& p) {
  const Eigen::Matrix2d frame = moving_frame(p).topLeftCorner<2, 2>();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> axes(frame.transpose() * frame);
  const Eigen::Vector2d longer = axes.eigenvectors().col(0);
  return {std::atan(longer[1] / longer[0]) * 180.0 / std::numbers::pi, std::sqrt(axes.eigenvalues()[1] / axes.eigenvalues()[0])};
}

TEST(FittedProcess, FindsTheDirectionOfAStretch) {
  for (const double shear : {-1.2, 1.2}) {  // along and across the diagonal: to axes alone the field would look alike both ways
    const ProcessParameters truth = {.nu = 0.5, .length_x = 0.3, .length_y = 0.3, .shear = shear, .nugget = 0.01};
    const Stretch wanted = stretch_of(truth), found = stretch_of(fitted(drawn(truth, 21)));
    EXPECT_NEAR(found.degrees, wanted.degrees, 15.0) << shear;
    EXPECT_GT(found.ratio, 1.6) << shear;
  }
}

TEST(FittedProcess, FindsLittleStretchWhereThereIsNone) {
  EXPECT_LT(stretch_of(fitted(drawn({.nu = 0.5, .length_x = 0.3, .length_y = 0.3, .nugget = 0.01}, 22))).ratio, 1.4);
}

TEST(FittedProcess, FindsASecondStructureOnlyWhereThereIsOne) {
  const ProcessParameters one = {.nu = 0.5, .length_x = 0.6, .length_y = 0.6, .nugget = 0.001};
  ProcessParameters two = one;
  two.length_x = two.length_y = 1.5, two.second_share = 0.3, two.second_length = 0.1;
  EXPECT_EQ(fitted(drawn(one, 23, Sampling::grid)).second_share, 0.0);
  const ProcessParameters found = fitted(drawn(two, 24, Sampling::grid));
  EXPECT_GT(found.second_share, 0.1);
  EXPECT_NEAR(std::log(found.second_length * found.length_x), std::log(two.second_length * two.length_x), 0.8);
}

}  // namespace
}  // namespace drift
