#pragma once

#include <string>
#include <vector>

#include "drift/read_observations.h"
#include "drift/variable_info.h"

namespace drift {

// What the values are, by the file, then by the options, which prevail. A standard_name that is none of CF's, as far as drift
// knows them, is left out with a warning. A unit that is not known stays so.
void describe(VariableInfo& info, const ReadOptions& options, std::vector<std::string>& warnings);

}  // namespace drift
