#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace drift {

// JSON that comes from a file. The library reads nested values without recursion, but copies and prints them by it, which
// overflows the stack: what is nested deeper than any file of drift's has reason to be is refused before it is parsed. Throws
// Error "subject: what is wrong" for that and for what is not JSON.
nlohmann::json parse_json(std::string_view text, const std::string& subject);

}  // namespace drift
