#pragma once

namespace drift {

// What a stop says before training has anything that a checkpoint could keep.
inline constexpr const char* kNothingToSave = "stopped before there was any progress to save";

}  // namespace drift
