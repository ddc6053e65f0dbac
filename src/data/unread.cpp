#include "data/unread.h"

#include <fmt/format.h>

namespace drift {

std::string unread_time(std::string_view what, const std::string& name) {
  return fmt::format(
      "no times are read, so the field is one of space alone, though the {0} \"{1}\" may hold them: --time {1} reads it, --time "
      "- does without.",
      what, name);
}

std::string unread_date(const std::string& name) {
  return fmt::format(
      "no times are read, so the field is one of space alone, though the column \"{0}\" may be a piece of a date: --time "
      "year,month,day or --time year,doy reads one of several columns, --time {0} this one alone, --time - does without.",
      name);
}

std::string unread_sigma(std::string_view what, const std::string& name, const std::string& value) {
  return fmt::format("the {0} \"{1}\" may hold the standard errors of \"{2}\": --sigma {1} uses it, --sigma - does without.",
                     what, name, value);
}

}  // namespace drift
