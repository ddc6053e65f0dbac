// Colour maps: Crameri 2018 (batlow, vik, ...), doi:10.5281/zenodo.1243862; Thyng et al. 2016 (cmocean: thermal, haline, ...),
// doi:10.5670/oceanog.2016.66. Both are perceptually uniform.

#include "output/plot_quantities.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "data/words.h"

namespace drift {
namespace {

struct Row {
  std::vector<std::string_view> parts;  // of the long or the standard name, or of the variable's
  std::vector<std::string_view> words;  // the same, but whole words: "sla" is in sla_filtered, not in island
  std::vector<std::string_view> units;
  QuantityColours colours;
};

// The first row that fits. What is said of a quantity (its error, its anomaly) comes before the quantity itself.
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"uncertainty", "standard deviation", "standard_deviation", "standard error", "standard_error", "mapping error"},
       {"sd", "std"},
       {},
       sd_colours()},
      {{"anomal", "difference", "departure", "tendency", "trend", "residual", "error of"},
       {"sla", "ssha", "bias"},
       {},
       {.colours = "vik", .diverging = true}},
      {{"above_sea_level"}, {}, {}, {.colours = "vik", .diverging = true}},
      {{"vorticity", "divergence"}, {}, {}, {.colours = "curl", .diverging = true}},
      {{"gradient", "slope"}, {}, {}, {.colours = "vik", .diverging = true}},
      {{"velocity", "eastward", "northward"}, {"ugos", "vgos", "ugosa", "vgosa"}, {}, {.colours = "balance", .diverging = true}},
      {{"from_direction", "to_direction"}, {}, {"degree", "degrees"}, {.colours = "romaO"}},
      {{"speed"}, {}, {}, {.colours = "speed"}},
      {{"temperature"},
       {"sst"},
       {"K", "kelvin", "degC", "celsius", "Celsius", "degree_C", "degrees_C", "degree_Celsius", "degrees_Celsius",
        "degree_celsius"},
       {.colours = "thermal"}},
      {{"salinity"}, {"sss"}, {}, {.colours = "haline"}},
      {{"chlorophyll"}, {"chl"}, {}, {.colours = "algae"}},
      // Up to the white of what has no value.
      {{"sea_ice", "sea ice", "freeboard", "snow"}, {}, {}, {.colours = "devon", .share = 0.9}},
      {{"depth", "bathymetry"}, {}, {}, {.colours = "deep"}},
  };
  return table;
}

bool fits(const Row& row, const VariableInfo& info) {
  const auto named = [&](const auto& contains) {
    return contains(info.standard_name) || contains(info.long_name) || contains(info.name);
  };
  const auto unit_is = [&](std::string_view unit) { return info.unit == unit; };
  return std::any_of(row.parts.begin(), row.parts.end(),
                     [&](auto part) { return named([&](const std::string& n) { return contains_ignoring_case(n, part); }); }) ||
         std::any_of(row.words.begin(), row.words.end(),
                     [&](auto word) { return named([&](const std::string& n) { return has_word(n, word); }); }) ||
         std::any_of(row.units.begin(), row.units.end(), unit_is);
}

}  // namespace

QuantityColours sd_colours() { return {.colours = "lajolla", .from_zero = true, .share = 0.85}; }

QuantityColours colours_of(const VariableInfo& info) {
  for (const Row& row : rows()) {
    if (fits(row, info)) return row.colours;
  }
  return {.colours = "batlow"};
}

bool is_diverging(const std::string& colours) {
  constexpr auto names =
      std::to_array<std::string_view>({"bam", "berlin", "broc", "cork", "lisbon", "roma", "tofino", "vanimo", "vik",  // Crameri
                                       "balance", "curl", "delta", "diff", "tarn",                                    // cmocean
                                       "polar", "red2green", "split", "no_green"});
  return std::find(names.begin(), names.end(), colours) != names.end();
}

}  // namespace drift
