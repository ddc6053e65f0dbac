#include "fields/variable_name.h"

#include <cctype>

namespace drift {

std::string variable_name(const VariableInfo& value) {
  std::string name = value.name.substr(value.name.rfind('/') + 1);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "field_");
  return name;
}

}  // namespace drift
