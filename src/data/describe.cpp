#include "data/describe.h"

#include <fmt/format.h>

#include "data/standard_names.h"
#include "drift/error.h"
#include "drift/standard_name.h"

namespace drift {

void describe(VariableInfo& info, const ReadOptions& options, std::vector<std::string>& warnings) {
  if (!options.units.empty()) info.unit = options.units;
  if (!options.long_name.empty()) info.long_name = options.long_name;
  if (const std::string problem = standard_name_problem(options.standard_name); !problem.empty()) throw UsageError(problem);
  if (!options.standard_name.empty()) info.standard_name = options.standard_name;
  if (info.standard_name.empty()) return;
  const std::string proposal = standard_name_proposal(info.standard_name), end = proposal.empty() ? "." : proposal;
  if (!may_be_standard_name(info.standard_name)) {
    warnings.push_back(
        fmt::format("the standard_name '{}' of '{}' is none of CF's and is left out; --standard-name gives the right one{}",
                    info.standard_name, info.name, end));
    info.standard_name.clear();
  } else if (!is_standard_name(info.standard_name)) {
    warnings.push_back(fmt::format("the standard_name '{}' of '{}' is none of the {} CF names that drift knows; it is kept{}",
                                   info.standard_name, info.name, standard_names().size(), end));
  } else if (info.unit.empty() && !canonical_unit(info.standard_name).empty()) {
    warnings.push_back(fmt::format("the unit of '{}' is not known; CF's for {} is \"{}\", which --units '{}' would say.",
                                   info.name, info.standard_name, canonical_unit(info.standard_name),
                                   canonical_unit(info.standard_name)));
  }
}

}  // namespace drift
