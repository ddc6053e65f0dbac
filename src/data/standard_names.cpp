#include "data/standard_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/edit_distance.h"
#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/standard_name.h"

namespace drift {
namespace {

// Names that files and people use, and CF's for them.
struct Abbreviation {
  std::string_view word, name;
};
constexpr std::array<Abbreviation, 16> kAbbreviations = {{{"adt", "sea_surface_height_above_geoid"},
                                                          {"chl", "mass_concentration_of_chlorophyll_a_in_sea_water"},
                                                          {"chlor_a", "mass_concentration_of_chlorophyll_a_in_sea_water"},
                                                          {"freeboard", "sea_ice_freeboard"},
                                                          {"hs", "sea_surface_wave_significant_height"},
                                                          {"mdt", "sea_surface_height_above_geoid"},
                                                          {"sic", "sea_ice_area_fraction"},
                                                          {"sea_ice_concentration", "sea_ice_area_fraction"},
                                                          {"sit", "sea_ice_thickness"},
                                                          {"sla", "sea_surface_height_above_mean_sea_level"},
                                                          {"ssha", "sea_surface_height_above_mean_sea_level"},
                                                          {"sss", "sea_surface_salinity"},
                                                          {"sst", "sea_surface_temperature"},
                                                          {"significant_wave_height", "sea_surface_wave_significant_height"},
                                                          {"swh", "sea_surface_wave_significant_height"},
                                                          {"zos", "sea_surface_height_above_geoid"}}};

// Heights above the mean sea surface are anomalies and above the geoid absolute: currents from one taken for the other are wrong.
bool is_height_of_any_kind(std::string_view name) { return name == "ssh" || name == "sea_surface_height"; }

std::string height_proposal(std::string_view long_name) {
  std::string words = lower(long_name);
  std::replace(words.begin(), words.end(), '_', ' ');
  const auto says = [&](std::string_view word) { return words.find(word) != std::string::npos; };
  const bool is_anomaly = says("anomal") || says("mean sea");
  const bool is_absolute = says("geoid") || says("dynamic topography");
  if (is_anomaly != is_absolute) {
    return fmt::format("; did you mean 'sea_surface_height_above_{}'?", is_anomaly ? "mean_sea_level" : "geoid");
  }
  if (says("ellipsoid")) return "; did you mean 'sea_surface_height_above_reference_ellipsoid'?";
  return "; did you mean 'sea_surface_height_above_mean_sea_level' (an anomaly) or 'sea_surface_height_above_geoid'?";
}

// Whether one word differs, by one letter that is wrong, missing, too many or swapped with the next. The first letter and short
// words must agree: "methane" is no slip for "ethane", and "chlorophyll_b" none for "chlorophyll_a".
bool differs_by_a_slip(const std::vector<std::string>& words, const std::vector<std::string>& known) {
  if (words.size() != known.size()) return false;
  const auto [a, b] = std::mismatch(words.begin(), words.end(), known.begin());
  if (a == words.end() || !std::equal(std::next(a), words.end(), std::next(b))) return false;
  constexpr std::size_t kLong = 5;
  return a->size() >= kLong && b->size() >= kLong && a->front() == b->front() && edit_distance(*a, *b) == 1;
}

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

std::string standard_name_proposal(std::string_view name, std::string_view long_name) {
  if (is_height_of_any_kind(name)) return height_proposal(long_name);
  for (const Abbreviation& known : kAbbreviations) {
    if (known.word == name) return fmt::format("; did you mean '{}'?", known.name);
  }
  return did_you_mean(name, standard_names());
}

std::string_view misspelt_standard_name(std::string_view name) {
  name = without_modifier(name);
  if (find(name) != nullptr) return {};
  const std::string small = lower(name);
  if (const StandardName* const known = find(small); known != nullptr) return known->name;
  const std::vector<std::string> words = split(small, '_');
  for (const std::string_view known : standard_names()) {
    if (differs_by_a_slip(words, split(known, '_'))) return known;
  }
  return {};
}

bool is_main_quantity(std::string_view name) {
  return is_height_of_any_kind(name) || name.starts_with("sea_surface_height_above_") ||
         std::any_of(kAbbreviations.begin(), kAbbreviations.end(),
                     [name](const Abbreviation& known) { return known.word == name || known.name == name; });
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
