#include "data/standard_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "drift/did_you_mean.h"
#include "drift/standard_name.h"

namespace drift {
namespace {

// Names that files and people use, and CF's for them.
struct Abbreviation {
  std::string_view word, name;
};
constexpr std::array<Abbreviation, 18> kAbbreviations = {{{"adt", "sea_surface_height_above_geoid"},
                                                          {"chl", "mass_concentration_of_chlorophyll_a_in_sea_water"},
                                                          {"chlor_a", "mass_concentration_of_chlorophyll_a_in_sea_water"},
                                                          {"freeboard", "sea_ice_freeboard"},
                                                          {"hs", "sea_surface_wave_significant_height"},
                                                          {"mdt", "sea_surface_height_above_geoid"},
                                                          {"sic", "sea_ice_area_fraction"},
                                                          {"sea_ice_concentration", "sea_ice_area_fraction"},
                                                          {"sit", "sea_ice_thickness"},
                                                          {"sla", "sea_surface_height_above_mean_sea_level"},
                                                          {"ssh", "sea_surface_height_above_geoid"},
                                                          {"ssha", "sea_surface_height_above_mean_sea_level"},
                                                          {"sss", "sea_surface_salinity"},
                                                          {"sst", "sea_surface_temperature"},
                                                          {"sea_surface_height", "sea_surface_height_above_geoid"},
                                                          {"significant_wave_height", "sea_surface_wave_significant_height"},
                                                          {"swh", "sea_surface_wave_significant_height"},
                                                          {"zos", "sea_surface_height_above_geoid"}}};

std::string_view without_modifier(std::string_view name) {
  for (const std::string_view modifier : {" detection_minimum", " number_of_observations", " standard_error", " status_flag"}) {
    if (name.ends_with(modifier)) return name.substr(0, name.size() - modifier.size());
  }
  return name;
}

const StandardName* find(std::string_view name) {
  const auto table = standard_name_table();
  const auto found =
      std::lower_bound(table.begin(), table.end(), name, [](const StandardName& a, std::string_view b) { return a.name < b; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

std::span<const std::string_view> standard_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const StandardName& known : standard_name_table()) all.push_back(known.name);
    return all;
  }();
  return names;
}

bool is_standard_name(std::string_view name) { return find(without_modifier(name)) != nullptr; }

bool may_be_standard_name(std::string_view name) {
  name = without_modifier(name);
  if (find(name) != nullptr) return true;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto good = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && name.find('_') != std::string_view::npos &&
         std::all_of(name.begin(), name.end(), good);
}

std::string standard_name_proposal(std::string_view name) {
  for (const Abbreviation& known : kAbbreviations) {
    if (known.word == name) return fmt::format("; did you mean '{}'?", known.name);
  }
  return did_you_mean(name, standard_names());
}

std::string_view canonical_unit(std::string_view name) {
  const StandardName* const known = find(without_modifier(name));
  return known == nullptr ? std::string_view() : known->unit;
}

std::string standard_name_problem(const std::string& name) {
  if (name.empty() || may_be_standard_name(name)) return {};
  return fmt::format("'{}' is no standard name of CF{}", name, standard_name_proposal(name));
}

}  // namespace drift
