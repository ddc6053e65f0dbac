#pragma once

#include <array>
#include <string>
#include <string_view>

#include "drift/calendar.h"

namespace drift {

enum class CsvParsed { good, missing, bad, not_finite };

// Whether the text stands for no value: empty, NA, N/A, NaN or null, in upper or lower case.
bool is_missing(std::string_view text);

// A decimal number that fills the whole text, correctly rounded, whatever the locale. `number` is set where the result is good.
CsvParsed parse_number(std::string_view text, double& number);

// Whether the text begins like a date, YYYY-MM-DD: no number does.
inline bool looks_like_date(std::string_view text) { return text.size() >= 10 && text[4] == '-' && text[7] == '-'; }

// Whether the text is a date written as a number, 20200131 or 20200131123005, of the years 1900 to 2100.
bool is_written_date(std::string_view text);

// Days since 1950-01-01 of year, month, day, hour, minute and second; the first two are whole, the day and what follows need not
// be. False where there is no such date.
bool days_of_date(const std::array<double, 6>& pieces, double& days_since_1950);

// Text of a file as a message may show it: short and without control characters.
std::string excerpt(std::string_view text);

}  // namespace drift
