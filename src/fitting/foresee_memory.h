#pragma once

#include <cstddef>

#include "drift/fit.h"

namespace drift {

// Sets plan.memory_mib: the most that fit() will hold at once, of so many observations in all. Throws Error, with both figures
// and what to change, where this process may not use as much. Methods other than drift's own foresee their own.
void foresee_memory(FitPlan& plan, std::size_t observations);

}  // namespace drift
