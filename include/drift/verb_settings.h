#pragma once

#include <string_view>
#include <vector>

#include "drift/export.h"
#include "drift/run_settings.h"

namespace DRIFT_PUBLIC drift {

// The settings that have a flag and that a verb takes, in the list's order: of "inspect", "fit", "tune", "compare", "score" and
// "demo", as the command has them. Of "read", those by which observations and their test set are read: programs that read once
// and fit often keep these apart. Throws UsageError for another verb.
std::vector<SettingInfo> settings_of_verb(std::string_view verb);

}  // namespace drift
