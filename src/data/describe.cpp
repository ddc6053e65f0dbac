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
  const bool from_file = options.standard_name.empty();
  const std::string proposal = standard_name_proposal(info.standard_name, info.long_name),
                    end = proposal.empty() ? "." : proposal;
  if (const std::string_view known = misspelt_standard_name(info.standard_name); from_file && !known.empty()) {
    warnings.push_back(
        fmt::format("'{1}' has the standard_name '{0}', a misspelling of '{2}', so it is ignored; --standard-name {2} sets it.",
                    info.standard_name, info.name, known));
    info.standard_name.clear();
  } else if (!may_be_standard_name(info.standard_name)) {
    warnings.push_back(
        fmt::format("'{1}' has the standard_name '{0}', which is not a CF standard name, so it is ignored; --standard-name sets "
                    "the right one{2}",
                    info.standard_name, info.name, end));
    info.standard_name.clear();
  } else if (!is_standard_name(info.standard_name) && !from_file) {
    warnings.push_back(
        fmt::format("'{}' is not among the {} CF standard names that drift knows; maps carry it all the same, as you ask{}",
                    info.standard_name, standard_names().size(), end));
  } else if (!is_standard_name(info.standard_name)) {
    warnings.push_back(
        fmt::format("'{1}' has the standard_name '{0}', which is not among the {2} CF standard names that drift knows, so maps "
                    "will not carry it; --standard-name {0} keeps it if it is one of CF's{3}",
                    info.standard_name, info.name, standard_names().size(), end));
    info.standard_name.clear();
  } else if (info.unit.empty() && !canonical_unit(info.standard_name).empty()) {
    warnings.push_back(fmt::format("the unit of '{}' is unknown; the CF unit of {} is \"{}\", which --units '{}' sets.",
                                   info.name, info.standard_name, canonical_unit(info.standard_name),
                                   canonical_unit(info.standard_name)));
  }
}

}  // namespace drift
