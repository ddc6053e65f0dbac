#pragma once

#include <string>
#include <string_view>

// Sentences on columns and variables (`what` they are) that are there and not read.
namespace drift {

inline constexpr const char* kPassesWithoutTimes = "the passes have no times: the field is one of space alone.";

std::string unread_time(std::string_view what, const std::string& name);

// Of a column that is a piece of a date, as the year.
std::string unread_date(const std::string& name);

std::string unread_sigma(std::string_view what, const std::string& name, const std::string& value);

}  // namespace drift
