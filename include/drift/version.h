#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// "0.1.0": the library's, written into every model file.
const char* version();

// Distinguishes two builds of one version: the linker's build ID of the library, in hexadecimal digits. The version if the
// linker does not make one.
std::string build_id();

}  // namespace drift
