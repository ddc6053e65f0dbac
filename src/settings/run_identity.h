#pragma once

#include <string>

#include "core/fingerprint.h"
#include "settings/setting_list.h"

namespace drift {

// Identity of a run: every setting that affects its result, by the list of settings, and every column of its
// observations. Work that was done for one run is not taken up by another.

// All settings that bear on any of these (Bears), defaults included.
void add_settings(Fingerprint& print, const RunSettings& settings, unsigned bearing_on);

void add_observations(Fingerprint& print, const Observations& observations);

// "[model] members was 5 and is 10 now; ..." of those that bear on any of these; empty where they are the same.
std::string settings_that_differ(const RunSettings& before, const RunSettings& now, unsigned bearing_on);

}  // namespace drift
