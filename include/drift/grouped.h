#pragma once

#include <string>

namespace drift {

// A whole number as people read it: "1,162,655".
std::string grouped(double number);

}  // namespace drift
