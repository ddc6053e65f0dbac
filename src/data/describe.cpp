#include "data/describe.h"

#include <fmt/format.h>

#include "data/standard_names.h"
#include "drift/did_you_mean.h"

namespace drift {

void describe(VariableInfo& info, const ReadOptions& options, std::vector<std::string>& warnings) {
  if (!options.units.empty()) info.unit = options.units;
  if (!options.long_name.empty()) info.long_name = options.long_name;
  const bool given = !options.standard_name.empty();
  if (given) info.standard_name = options.standard_name;
  if (info.standard_name.empty()) return;
  if (!is_standard_name(info.standard_name)) {
    warnings.push_back(fmt::format("the standard_name '{}' of '{}' is none of the CF names that drift knows{}, and is {}.",
                                   info.standard_name, info.name, did_you_mean(info.standard_name, standard_names()),
                                   given ? "kept because it was given" : "left out; --standard-name gives the right one"));
    if (!given) info.standard_name.clear();
    return;
  }
  if (info.unit.empty()) {
    warnings.push_back(fmt::format("the unit of '{}' is not known; CF's for {} is \"{}\", which --units '{}' would say.",
                                   info.name, info.standard_name, canonical_unit(info.standard_name),
                                   canonical_unit(info.standard_name)));
  }
}

}  // namespace drift
