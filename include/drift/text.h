#pragma once

#include <string>
#include <string_view>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Texts from elsewhere: names and attributes of files, words of the command line.

bool is_utf8(std::string_view text);

// Unchanged if it is UTF-8, otherwise read as Latin-1, which older files use for "°C".
std::string to_utf8(std::string_view text);

// A text that is safe to show on a terminal: control characters other than newline and tab, which could move the cursor or change
// colours, and bytes that are not UTF-8 become \x1b and the like.
std::string printable(std::string_view text);

}  // namespace drift
