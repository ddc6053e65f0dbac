// On the sphere, with latitude theta and longitude lambda,
//   integral |grad f|^2 dS = int int |grad f|^2 cos(theta) dtheta dlambda:
// the trapezoidal rule in both. In longitude it is exact for harmonics of lower order than half the columns; in latitude its
// error falls as the square of the step. The paper, appendix on functional regularisation.

#include "drift/roughness.h"

#include <cmath>
#include <numbers>

#include "drift/error.h"

namespace drift {
namespace {

constexpr double kPi = std::numbers::pi;

// Weight of point i of n on an axis: half at the ends.
double trapezoid(int i, int n) { return i == 0 || i == n - 1 ? 0.5 : 1.0; }

// |grad f|^2 of the model's mean at rows of coordinates, in the engine's units.
std::vector<double> squared_gradient(Engine& engine, const Ensemble& ensemble, const std::vector<float>& rows,
                                     std::size_t columns, std::size_t space) {
  const std::size_t n = rows.size() / columns;
  std::vector<float> gradient(rows.size());
  engine.input_gradient(ensemble, MatrixView<const float>(rows.data(), n, columns),
                        MatrixView<float>(gradient.data(), n, columns));
  std::vector<double> squares(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < space; ++k) squares[i] += std::pow(gradient[i * columns + k], 2);
  }
  return squares;
}

}  // namespace

double sphere_energy(const SphereSlope& slope, int latitudes) {
  if (latitudes < 3) throw UsageError("sphere_energy: at least three latitudes are needed");
  const int longitudes = 2 * latitudes;
  const double step = kPi / (latitudes - 1), turn = 2.0 * kPi / longitudes;
  std::vector<UnitVector> points;
  for (int row = 1; row + 1 < latitudes; ++row) {  // the measure is zero at the poles
    const double latitude = -0.5 * kPi + row * step;
    for (int column = 0; column < longitudes; ++column) {
      points.push_back(
          {std::cos(latitude) * std::cos(column * turn), std::cos(latitude) * std::sin(column * turn), std::sin(latitude)});
    }
  }
  std::vector<double> squares(points.size());
  slope(points, squares);  // all at once: an engine's every call has its price
  double sum = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t row = 1 + i / static_cast<std::size_t>(longitudes);
    sum += squares[i] * std::cos(-0.5 * kPi + static_cast<double>(row) * step);
  }
  return sum * step * turn;
}

double plane_energy(const PlaneSlope& slope, const std::array<double, 4>& box, int points_a_side) {
  if (points_a_side < 2) throw UsageError("plane_energy: at least two points a side are needed");
  const auto& [x0, y0, x1, y1] = box;
  const double dx = (x1 - x0) / (points_a_side - 1), dy = (y1 - y0) / (points_a_side - 1);
  std::vector<std::array<double, 2>> points;
  for (int row = 0; row < points_a_side; ++row) {
    for (int column = 0; column < points_a_side; ++column) points.push_back({x0 + column * dx, y0 + row * dy});
  }
  std::vector<double> squares(points.size());
  slope(points, squares);
  double sum = 0.0;
  auto square = squares.begin();
  for (int row = 0; row < points_a_side; ++row) {
    for (int column = 0; column < points_a_side; ++column) {
      sum += trapezoid(row, points_a_side) * trapezoid(column, points_a_side) * *square++;
    }
  }
  return sum * dx * dy;
}

double roughness(Engine& engine, const FieldModel& model, int points_a_side) {
  const auto space = static_cast<std::size_t>(space_coordinates(model.domain));
  const std::size_t columns = space + (model.info.has_time ? 1 : 0);
  const double middle = 0.5 * (model.info.first_time_days + model.info.last_time_days);
  const auto time = static_cast<float>(model.domain.time.to_engine(middle));
  const auto squares_at = [&](auto points, std::span<double> squares) {
    std::vector<float> rows;
    for (const auto& point : points) {
      for (std::size_t k = 0; k < space; ++k) rows.push_back(static_cast<float>(point[k]));
      if (model.info.has_time) rows.push_back(time);
    }
    const std::vector<double> found = squared_gradient(engine, model.ensemble, rows, columns, space);
    std::copy(found.begin(), found.end(), squares.begin());
  };
  if (model.domain.kind == DomainKind::sphere) {
    return sphere_energy([&](std::span<const UnitVector> points, std::span<double> squares) { squares_at(points, squares); },
                         points_a_side) /
           (4.0 * kPi);
  }
  // The engine's plane is standardised: two standard deviations either way hold nearly all observations.
  const std::array<double, 4> box = {-2.0, -2.0, 2.0, 2.0};
  return plane_energy(
             [&](std::span<const std::array<double, 2>> points, std::span<double> squares) { squares_at(points, squares); }, box,
             points_a_side) /
         16.0;
}

}  // namespace drift
