#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Description of a variable in CF terms; empty if unknown.
struct VariableInfo {
  std::string name = {};           // "sla_unfiltered"
  std::string long_name = {};      // "Sea level anomaly"
  std::string standard_name = {};  // "sea_surface_height_above_sea_level"
  std::string unit = {};           // "m"; "1": none

  bool operator==(const VariableInfo&) const = default;
};

}  // namespace drift
