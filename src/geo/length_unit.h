#pragma once

#include <optional>
#include <string>

namespace drift {

// Metres of a unit of length as files spell it: "km", "US_survey_foot", "1000 m"; by UDUNITS' names and PROJ's, singular or
// plural, in any case, with spaces, _ or - between words. None where it is not known to be a length.
std::optional<double> metres_of(const std::string& unit);

// Metres of the unit in which the x or y of a projected CRS are counted in a file: by the axis's units, or the CRS's own where
// the axis has none. Throws Error for a unit that is not known: read as metres, it would put every position wrong.
double metres_of_axis(const std::string& unit, const std::string& crs);

}  // namespace drift
