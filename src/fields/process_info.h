#pragma once

#include "drift/domain.h"
#include "drift/field_model.h"
#include "process/process.h"

namespace drift {

// Fitted parameters of a process, in the domain's units: process_info() of a model (drift/field_model.h) has it of its own.
ProcessInfo info_of(const Process& process, const Domain& domain);
// Of parameters that hold somewhere.
ProcessInfo info_of(const ProcessParameters& parameters, bool has_time, const Domain& domain);

}  // namespace drift
