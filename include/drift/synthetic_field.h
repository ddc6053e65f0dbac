#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "drift/position.h"

namespace drift {

struct SyntheticFieldOptions {
  std::uint64_t seed = 1;
  double evolution_days = 0.0;  // >= 0, time scale on which all but the ridges changes shape; 0: it stands still
};

// A made-up truth for demonstrations and tests: a field on the whole sphere, smooth across date line and poles, with structure
// at every scale that altimetry of the Arctic sees, whose strength varies from place to place. Its formula heads the source file.
// Mean zero and variance one over 62-88 N (at time zero). Same options, same field.
class SyntheticField {
 public:
  explicit SyntheticField(const SyntheticFieldOptions& options = {});

  double operator()(const UnitVector& point, double time_days = 0.0) const;

  // The field at many points, on the calling thread: times are one a point, or none for time zero.
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
  };
  struct Block;  // points and times, by coordinate

  static Waves draw_waves(const SyntheticFieldOptions& options, int set, int count, double shortest_km, double longest_km);
  static Ridge draw_ridge(const SyntheticFieldOptions& options, int index);
  static void add_waves(const Waves& waves, const Block& block, double* sum);
  double ridges_at(const UnitVector& point) const;
  void evaluate_block(const Block& block, double* values) const;
  void standardise();

  Waves basin_, middle_, fine_, middle_mask_, fine_mask_;
  std::vector<Ridge> ridges_;
  double offset_ = 0.0;  // value = (raw - offset) * scale
  double scale_ = 1.0;
};

}  // namespace drift
