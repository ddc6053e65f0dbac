#pragma once

namespace drift {

// "0.1.0": the library's, written into every model file.
const char* version();

}  // namespace drift
