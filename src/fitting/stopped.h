#pragma once

namespace drift {

// Message of a stop before training has any progress to save.
inline constexpr const char* kNothingToSave = "stopped before there was any progress to save";

}  // namespace drift
