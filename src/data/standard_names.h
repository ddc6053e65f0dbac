#pragma once

#include <span>
#include <string>
#include <string_view>

namespace drift {

struct StandardName {
  std::string_view name, unit;  // unit: the canonical one; empty: texts and flags
};

// Names of the CF standard name table (https://cfconventions.org), ascending: some seven hundred, of what is observed and mapped.
// The table has thousands more, so a name that is not here need not be wrong.
std::span<const StandardName> standard_name_table();
std::span<const std::string_view> standard_names();  // ascending

// A name of this table, or one with a modifier of CF's behind a blank, as "... standard_error".
bool is_standard_name(std::string_view name);

// The same, or one that CF's whole table may have: several words joined by _, as "sea_level_of_the_moon". A single word that is
// not known, as "ssh", is none.
bool may_be_standard_name(std::string_view name);

// The end of a message "'sst' is no standard name": "; did you mean 'sea_surface_temperature'?", or "". What a height is above is
// told from the variable's long_name; both are offered where that does not tell.
std::string standard_name_proposal(std::string_view name, std::string_view long_name = {});

// The known name of which this one is a slip of the pen, "sea_surface_temprature"; empty: it is none.
std::string_view misspelt_standard_name(std::string_view name);

// A quantity so often mapped that it has an abbreviation, by that ("sla") or by its standard name.
bool is_main_quantity(std::string_view name);

// Empty where the name is not known.
std::string_view canonical_unit(std::string_view name);

}  // namespace drift
