#pragma once

#include <optional>
#include <span>

#include "drift/predict.h"

namespace drift {

// Counts positions about which the observations tell next to nothing: those farther from all of them than two of the model's
// lengthscales, over which a Matérn correlation falls below a quarter.
class FarCounter {
 public:
  explicit FarCounter(const FieldModel& model);

  void add(std::span<const double> lon_deg, std::span<const double> lat_deg);  // NaN positions are none
  FarPoints result() const { return counted_; }

 private:
  std::optional<NearData> near_;  // none: the model knows no lengthscale, or not where its observations lay
  FarPoints counted_;
};

}  // namespace drift
