#pragma once

#include <string>

#include "drift/variable_info.h"

namespace drift {

// A name that CF allows, letters, digits and underscores, from that of the values: "data_01/ssha" is "ssha".
std::string variable_name(const VariableInfo& value);

}  // namespace drift
