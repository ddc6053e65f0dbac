#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "drift/predict.h"

namespace drift {

// The masks of a map, ready to be asked about blocks of points. Positions that a mask leaves out become NaN.
class MapMasker {
 public:
  MapMasker(const FieldModel& model, const std::vector<MapMask>& masks, const Control& control = {});

  bool varies() const { return !varying_.empty(); }  // with time

  void fixed(std::vector<double>& lon, std::vector<double>& lat) const;  // those that hold at all times
  void varying(std::vector<double>& lon, std::vector<double>& lat, std::optional<double> time) const;

 private:
  // 1 where a point stays.
  using Keep =
      std::function<std::vector<char>(std::span<const double> lon, std::span<const double> lat, std::optional<double> time)>;
  static void apply(const std::vector<Keep>& masks, std::vector<double>& lon, std::vector<double>& lat,
                    std::optional<double> time);

  std::vector<Keep> fixed_, varying_;
};

}  // namespace drift
