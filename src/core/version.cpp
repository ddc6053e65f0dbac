#include "drift/version.h"

namespace drift {

const char* version() { return DRIFT_VERSION; }

}  // namespace drift
