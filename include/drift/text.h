#pragma once

#include <string>
#include <string_view>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Texts from elsewhere: names and attributes of files, words of the command line.

bool is_utf8(std::string_view text);

// As it is where it is UTF-8, otherwise taken as Latin-1, which older files use for "°C".
std::string to_utf8(std::string_view text);

// What a terminal may be shown: control characters other than newline and tab, by which a text could move the cursor, change
// colours or worse, and bytes that are not UTF-8 become \x1b and the like.
std::string printable(std::string_view text);

}  // namespace drift
