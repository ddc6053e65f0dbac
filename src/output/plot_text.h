#pragma once

#include <string>

namespace drift {

// Any UTF-8 text as GMT prints it: its own escapes made harmless, letters beyond Latin-1 as '?'.
std::string gmt_text(const std::string& text);

// A CF unit as it is printed: "m s-1" with a superscript, "degree_C" as degrees; empty for "1" and "".
std::string gmt_unit(const std::string& unit);

}  // namespace drift
