#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Why a name can be none of the CF standard name table (https://cfconventions.org), with a proposal: "'ssh' is no standard name
// of CF; did you mean 'sea_surface_height_above_geoid'?". Empty: it is one, or may be one of the thousands that drift does not
// list.
std::string standard_name_problem(const std::string& name);

}  // namespace drift
