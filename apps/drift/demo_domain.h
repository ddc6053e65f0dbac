#pragma once

#include <span>
#include <string>
#include <vector>

#include "drift/matrix_view.h"
#include "drift/observations.h"
#include "drift/position.h"

// Where the demonstration's degrees and days meet the engine's standardised float32 numbers.

// The north polar plane by Lambert's azimuthal equal-area projection of the sphere: 0 E points down, 90 E to the right.
struct PlanePosition {
  double x_km;
  double y_km;
};
PlanePosition to_plane(const drift::Position& position);
drift::Position from_plane(const PlanePosition& plane);

// Distance from the pole to a parallel in that plane.
double parallel_radius_km(double lat_deg);

// Standardised number = (number - mean) / sd.
struct Standard {
  double mean = 0.0;
  double sd = 1.0;
};

// Coordinates and values of a set of observations in the engine's terms.
class DemoDomain {
 public:
  // Takes the scales from the given rows: x and y share one, so that distances keep their shape.
  DemoDomain(const drift::Observations& observations, std::span<const std::size_t> rows);

  // [rows, 3]: x, y, time.
  std::vector<float> coordinates(const drift::Observations& observations, std::span<const std::size_t> rows) const;
  // [plane, 3], all at the middle of the observations' time.
  std::vector<float> coordinates(std::span<const PlanePosition> plane) const;
  std::vector<float> values(const drift::Observations& observations, std::span<const std::size_t> rows) const;

  const Standard& value() const { return value_; }
  double km_per_unit() const { return x_.sd; }
  double days_per_unit() const { return time_.sd; }
  std::string to_json() const;

 private:
  Standard x_, y_, time_, value_;
};
