#pragma once

#include <array>
#include <functional>
#include <span>

#include "drift/export.h"
#include "drift/field_model.h"
#include "drift/position.h"

namespace DRIFT_PUBLIC drift {

// Roughness of a field: the integral of |grad f|^2, by the trapezoidal rule.

// Fills |grad f|^2 per radian at points of the unit sphere; called once.
using SphereSlope = std::function<void(std::span<const UnitVector> points, std::span<double> squares)>;
// Integral over the sphere with its measure cos(latitude); rows of latitude from pole to pole, twice as many columns. For a
// spherical harmonic of degree l with integral one of its square this is l (l + 1).
double sphere_energy(const SphereSlope& slope, int latitudes = 90);

// Fills |grad f|^2 at points (x, y) of a plane; called once.
using PlaneSlope = std::function<void(std::span<const std::array<double, 2>> points, std::span<double> squares)>;
double plane_energy(const PlaneSlope& slope, const std::array<double, 4>& box, int points_a_side = 64);

// The mean of |grad f|^2 over the domain of a model's mean field (the sphere, or the box of its training observations), at the
// middle of their time, in variances of the values per squared engine unit: dimensionless, and the same whatever the data's
// units.
double roughness(Engine& engine, const FieldModel& model, int points_a_side = 64);

}  // namespace drift
