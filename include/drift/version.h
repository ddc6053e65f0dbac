#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// "0.1.0": the library's, written into every model file.
const char* version();

// Tells two builds of one version apart: the linker's build ID of the library, in hexadecimal digits. The version where the
// linker was told not to make one.
std::string build_id();

}  // namespace drift
