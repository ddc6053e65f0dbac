#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drift {

// Text of ASCII letters, whatever the locale.
std::string lower(std::string_view text);
std::string_view stripped(std::string_view text);                       // without blanks around it
std::vector<std::string> split(std::string_view text, char separator);  // pieces without blanks around them
bool contains_ignoring_case(std::string_view text, std::string_view part);
// Whether `word` stands in the text with no letter or digit beside it, in upper or lower case.
bool has_word(std::string_view text, std::string_view word);

// Whether a variable is called like the standard error of another: "co2std", "co2_err", "sigma_co2" of "co2".
bool is_error_of(std::string_view name, std::string_view value);

// Whether a name or description says that there are standard errors of something else: "err", "Formal mapping error".
bool tells_of_errors(std::string_view text);

// Whether a variable is called like a flag, a count or the satellite's own geometry, which are seldom the value.
bool looks_aside(std::string_view name);

}  // namespace drift
