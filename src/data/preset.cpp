#include "data/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/read_observations.h"

namespace drift {
namespace {

// Names and habits of the products: Copernicus Marine level 3 sea level and waves, Sentinel-3 SRAL level 2, CryoSat-2 ice level
// 2, Jason GDR (versions D to F).
std::vector<PresetRow> make_table() {
  return {
      {.name = "cmems-l3-sla",
       .what = "Copernicus Marine level 3 sea level along tracks (sla_unfiltered, sla_filtered)",
       .variables = {"sla_unfiltered", "sla_filtered"},
       .missions = {},
       .values = {"sla_unfiltered", "sla_filtered"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .track = {"track"}},
      {.name = "cmems-l3-swh",
       .what = "Copernicus Marine level 3 significant wave height along tracks (VAVH, VAVH_UNFILTERED)",
       .variables = {"VAVH", "VAVH_UNFILTERED"},
       .missions = {},
       .values = {"VAVH", "VAVH_UNFILTERED"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .track = {"track"}},
      {.name = "cryosat2-l2",
       .what = "CryoSat-2 ice products of level 2 (freeboard_20_ku, height_1_20_ku), at the point of closest approach, from TAI",
       .variables = {"lat_poca_20_ku"},
       .missions = {},
       .values = {"freeboard_20_ku", "height_1_20_ku"},
       .lon = {"lon_poca_20_ku", "lon_20_ku", "lon_cor_01"},
       .lat = {"lat_poca_20_ku", "lat_20_ku", "lat_cor_01"},
       .time = {"time_20_ku", "time_cor_01"},
       .track = {},
       .tai = true},
      {.name = "sentinel3-l2",
       .what = "Sentinel-3 SRAL of level 2, 20 and 1 Hz (ssha_20_ku, ssha_01_ku, freeboard_20_ku, swh_ocean_20_ku)",
       .variables = {"time_20_ku", "time_01"},
       .missions = {"Sentinel 3", "Sentinel-3", "Sentinel3"},
       .values = {"ssha_20_ku", "ssha_01_ku", "freeboard_20_ku"},
       .lon = {"lon_20_ku", "lon_01", "lon_20_c"},
       .lat = {"lat_20_ku", "lat_01", "lat_20_c"},
       .time = {"time_20_ku", "time_01", "time_20_c"},
       .track = {},
       .pass_attribute = "pass_number"},
      {.name = "jason-gdr",
       .what = "Jason, SARAL and Sentinel-6 geophysical records, flat or in groups, 1 and 20 Hz (ssha, data_01/ku/ssha)",
       .variables = {"ssha", "data_01/time", "data_20/time", "range_20hz_ku"},
       .missions = {"Jason", "OSTM", "SARAL", "Sentinel-6", "Sentinel 6"},
       .values = {"ssha", "data_01/ku/ssha", "data_01/ssha"},
       .lon = {"lon_20hz", "lon_40hz", "lon", "longitude"},
       .lat = {"lat_20hz", "lat_40hz", "lat", "latitude"},
       .time = {"time_20hz", "time_40hz", "time"},
       .track = {},
       .pass_attribute = "pass_number"},
  };
}

bool is_of_product(const NcReader& file, const PresetRow& preset) {
  const auto has = [&](std::string_view name) { return file.find(std::string(name)) != nullptr; };
  if (std::none_of(preset.variables.begin(), preset.variables.end(), has)) return false;
  if (preset.missions.empty()) return preset.lon.empty() || std::any_of(preset.lon.begin(), preset.lon.end(), has);
  for (const char* attribute : {"mission_name", "mission", "platform"}) {
    const std::string mission = file.text(attribute).value_or("");
    const auto said = [&](std::string_view word) { return contains_ignoring_case(mission, word); };
    if (std::any_of(preset.missions.begin(), preset.missions.end(), said)) return true;
  }
  return false;
}

}  // namespace

const std::vector<PresetRow>& preset_table() {
  static const std::vector<PresetRow> table = make_table();
  return table;
}

const PresetRow* find_preset(const std::string& name, const NcReader& file) {
  if (name == "none") return nullptr;
  const std::vector<PresetRow>& table = preset_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const PresetRow& preset) {
    return name.empty() ? is_of_product(file, preset) : preset.name == name;
  });
  if (found != table.end()) return &*found;
  if (name.empty()) return nullptr;
  std::vector<std::string_view> known = {"none"};
  for (const PresetRow& preset : table) known.push_back(preset.name);
  throw UsageError(fmt::format("no preset is called '{}'{}", name, did_you_mean(name, known)));
}

std::vector<Preset> presets() {
  std::vector<Preset> all;
  for (const PresetRow& preset : preset_table()) all.push_back({std::string(preset.name), std::string(preset.what)});
  return all;
}

}  // namespace drift
