#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "drift/export.h"
#include "drift/position.h"

namespace DRIFT_PUBLIC drift {

// A drift of the whole field over the sphere without change of shape: a rotation about the Earth's centre at a constant rate.
// Only rotations leave a field on the sphere as it is; one speed at all latitudes would shear it more and more. The eastward part
// turns about the poles, so its speed is proportional to cos(latitude); the northward part turns about the point of the equator
// 90 degrees east of `at`, so it crosses the poles and runs south on the other side of the Earth.
struct FieldVelocity {
  double east_km_per_day = 0.0;
  double north_km_per_day = 0.0;
  Position at = {0.0, 0.0};  // the place that has this velocity; |latitude| < 90

  bool still() const { return east_km_per_day == 0.0 && north_km_per_day == 0.0; }
  UnitVector carry(const UnitVector& point, double days) const;  // to where it is after so many days
};

struct SyntheticFieldOptions {
  std::uint64_t seed = 1;
  double evolution_days = 0.0;  // >= 0, days over which the correlation in time falls to 1/e; 0: the shape does not change
  FieldVelocity velocity = {};

  bool moves() const { return evolution_days > 0.0 || !velocity.still(); }
};

// A synthetic truth for demonstrations and tests: a field on the whole sphere, smooth across date line and poles, with structure
// at every scale that altimetry of the Arctic sees, whose strength varies from place to place. Its formula heads the source file.
// Mean zero and variance one over 62-88 N: at time zero, or on average over all times if it evolves. It has a value at every
// place and time, and the same statistics at all times. Same options, same field; with a velocity v but no evolution it is the
// field without, carried along: f(x, t) = f(x carried back by v t, 0). Times are days since any moment.
class SyntheticField {
 public:
  explicit SyntheticField(const SyntheticFieldOptions& options = {});

  double operator()(const UnitVector& point, double time_days = 0.0) const;

  // The field at many points, on the calling thread: times are one per point, or none for time zero.
  void evaluate(std::span<const UnitVector> points, std::span<const double> time_days, std::span<double> values) const;

 private:
  // Sum over waves of amplitude cos(2 pi (k . s + f t + phase)).
  struct Wave {
    UnitVector turns;      // k: cycles per unit length in space
    double turns_per_day;  // f
    double phase;          // turns
    double amplitude;
  };
  using Waves = std::vector<Wave>;
  struct Ridge {
    UnitVector middle;
    UnitVector axis;     // the crest lies on the small circle at `radius` around this
    double radius;       // radians
    double width;        // radians, standard deviation of the cross-section
    double half_length;  // radians
    double height;
    Waves life;  // in time alone, variance one: factor of the height of a field that evolves; empty: one
  };
  struct Block;  // points and times, by coordinate

  static Waves draw_waves(const SyntheticFieldOptions& options, int set, int count, double shortest_km, double longest_km);
  static Ridge draw_ridge(const SyntheticFieldOptions& options, int index);
  static void add_waves(const Waves& waves, const Block& block, double* sum);
  double ridges_at(const UnitVector& point, double time_days) const;
  void evaluate_block(const Block& block, double* values) const;
  void standardise(double evolution_days);

  Waves basin_, middle_, fine_, middle_mask_, fine_mask_;
  std::vector<Ridge> ridges_;
  FieldVelocity velocity_ = {};
  double offset_ = 0.0;  // value = (raw - offset) * scale
  double scale_ = 1.0;
};

}  // namespace drift
