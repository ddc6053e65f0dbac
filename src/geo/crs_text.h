#pragma once

#include <string>

namespace drift {

// True if a text is an authority's code ("EPSG:6931", "urn:ogc:def:crs:EPSG::3411"), WKT, or PROJ parameters,
// and names no file. Model files and maps bring their CRS along, and PROJ would open whatever path one names ("+init=/path:key",
// "+nadgrids=/path", PARAMETERFILE). To be asked before PROJ sees the text.
bool is_plain_crs(const std::string& text);
void check_crs_text(const std::string& text);  // throws UsageError where it is not

}  // namespace drift
