#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// A whole number as people read it: "1,162,655".
std::string grouped(double number);

}  // namespace drift
