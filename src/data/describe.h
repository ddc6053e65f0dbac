#pragma once

#include <string>
#include <vector>

#include "drift/read_observations.h"
#include "drift/variable_info.h"

namespace drift {

// What the values are, by the file, then by the options, which prevail. A standard_name that can be none of CF's is refused if it
// was asked for; one that drift does not know is then kept with a warning. Of a file both are left out with a warning. A unit
// that is not known stays so.
void describe(VariableInfo& info, const ReadOptions& options, std::vector<std::string>& warnings);

}  // namespace drift
