#include "data/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"

namespace drift {
namespace {

// Sea level anomalies beyond 2 m are edited out by the calibration of every altimeter; sea ice rises less than 2 m above the sea.
constexpr Range kAnomaly = {-2.0, 2.0};
constexpr Range kFreeboard = {-2.0, 2.0};

std::vector<PresetRow> level_3() {
  return {
      {.name = "cmems-l3-sla",
       .what = "Copernicus Marine level 3 sea level along tracks (sla_unfiltered, sla_filtered)",
       .variables = {"sla_unfiltered", "sla_filtered"},
       .values = {"sla_unfiltered", "sla_filtered"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .track = {"track"}},
      {.name = "cmems-l3-swh",
       .what = "Copernicus Marine level 3 significant wave height along tracks (VAVH, VAVH_UNFILTERED)",
       .variables = {"VAVH", "VAVH_UNFILTERED"},
       .values = {"VAVH", "VAVH_UNFILTERED"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .track = {"track"}},
      // Edited values only; ssha_unedited has them all. The nadir altimeter fills the middle columns of the swath.
      {.name = "swot-l3",
       .what = "SWOT level 3 sea level in swaths (ssha_unfiltered, ssha_filtered, ssha_unedited)",
       .variables = {"ssha_unfiltered", "ssha_filtered", "ssha_noiseless", "ssha_unedited"},
       .missions = {"SWOT"},
       .values = {"ssha_unfiltered", "ssha", "ssha_filtered", "ssha_noiseless", "ssha_unedited"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .quality = {{.values = {"ssha_unedited"}, .conditions = {"quality_flag == 0"}}}},
      {.name = "nasa-ssh",
       .what = "NASA's standardised sea surface height along tracks, of GSFC and others (ssh, ssh_smoothed)",
       .variables = {"nasa_flag"},
       .values = {"ssh", "ssh_smoothed"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .track = {"pass"},
       .quality = {{.values = {}, .conditions = {"nasa_flag == 0"}}}},
      {.name = "rss-ssmis",
       .what = "Daily grids of winds, vapour, cloud and rain from SSM/I and SSMIS, of Remote Sensing Systems (wind_speed)",
       .variables = {"atmosphere_cloud_liquid_water_content"},
       .values = {"wind_speed", "atmosphere_water_vapor_content", "rainfall_rate"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"}},
      {.name = "argo",
       .what = "Profiles of Argo floats, at a level chosen by conditions on PRES (TEMP, PSAL, TEMP_ADJUSTED, PSAL_ADJUSTED)",
       .variables = {"JULD"},
       .values = {"TEMP", "PSAL", "TEMP_ADJUSTED", "PSAL_ADJUSTED"},
       .lon = {"LONGITUDE"},
       .lat = {"LATITUDE"},
       .time = {"JULD"},
       .level = "PRES",
       // 1 good, 2 probably good, 5 changed, 8 estimated: reference table 2 of the Argo user's manual.
       .quality = {{.values = {}, .conditions = {"POSITION_QC in 1,2,5,8", "JULD_QC in 1,2,5,8"}},
                   {.values = {"TEMP"}, .conditions = {"PRES_QC in 1,2,5,8", "TEMP_QC in 1,2,5,8"}},
                   {.values = {"PSAL"}, .conditions = {"PRES_QC in 1,2,5,8", "PSAL_QC in 1,2,5,8"}},
                   {.values = {"TEMP_ADJUSTED"}, .conditions = {"PRES_ADJUSTED_QC in 1,2,5,8", "TEMP_ADJUSTED_QC in 1,2,5,8"}},
                   {.values = {"PSAL_ADJUSTED"}, .conditions = {"PRES_ADJUSTED_QC in 1,2,5,8", "PSAL_ADJUSTED_QC in 1,2,5,8"}}}},
  };
}

std::vector<PresetRow> radar_level_2() {
  return {
      // Classes are bits: 16 valid in SARIn, 64 ocean, 128 sea ice, 256 lead. Products in depth have no point of closest
      // approach.
      {.name = "cryosat2-l2",
       .what = "CryoSat-2 ice products of level 2 (freeboard_20_ku, height_1_20_ku), at the point of closest approach, from TAI",
       .variables = {"lat_poca_20_ku", "flag_surf_type_class_20_ku"},
       .values = {"freeboard_20_ku", "height_1_20_ku"},
       .lon = {"lon_poca_20_ku", "lon_20_ku", "lon_cor_01"},
       .lat = {"lat_poca_20_ku", "lat_20_ku", "lat_cor_01"},
       .time = {"time_20_ku", "time_cor_01"},
       .tai = true,
       .quality = {{.values = {"freeboard_20_ku"}, .conditions = {"flag_surf_type_class_20_ku in 16,128"}, .valid = kFreeboard},
                   {.values = {"ssha_20_ku"}, .conditions = {"flag_surf_type_class_20_ku in 2,16,64,256"}, .valid = kAnomaly}}},
      {.name = "sentinel3-l2",
       .what = "Sentinel-3 SRAL of level 2, 20 and 1 Hz (ssha_20_ku, ssha_01_ku, freeboard_20_ku, swh_ocean_20_ku)",
       .variables = {"time_20_ku", "time_01"},
       .missions = {"Sentinel 3", "Sentinel-3", "Sentinel3"},
       .values = {"ssha_20_ku", "ssha_01_ku", "freeboard_20_ku"},
       .lon = {"lon_20_ku", "lon_01", "lon_20_c"},
       .lat = {"lat_20_ku", "lat_01", "lat_20_c"},
       .time = {"time_20_ku", "time_01", "time_20_c"},
       .pass_attribute = "pass_number",
       .quality =
           {{.values = {"ssha_20_ku"}, .conditions = {"surf_class_20_ku == 0", "range_ocean_qual_20_ku == 0"}, .valid = kAnomaly},
            {.values = {"ssha_01_ku"}, .conditions = {"surf_class_01 == 0", "range_ocean_qual_01_ku == 0"}, .valid = kAnomaly},
            {.values = {"swh_ocean_20_ku"}, .conditions = {"surf_class_20_ku == 0", "swh_ocean_qual_20_ku == 0"}},
            {.values = {"swh_ocean_01_ku"}, .conditions = {"surf_class_01 == 0", "swh_ocean_qual_01_ku == 0"}},
            {.values = {"freeboard_20_ku"}, .valid = kFreeboard}}},
      {.name = "sentinel6-l2",
       .what = "Sentinel-6 of level 2, low and high resolution, 1 and 20 Hz (data_01/ku/ssha, data_20/ku/ssha)",
       .variables = {"data_01/time", "data_20/ku/time", "data_20/time"},
       .missions = {"Sentinel-6", "Sentinel 6", "Sentinel6"},
       .values = {"data_01/ku/ssha", "data_20/ku/ssha"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"time"},
       .pass_attribute = "pass_number",
       .quality = {{.values = {"ssha"},
                    .conditions = {"surface_classification_flag == 0", "range_ocean_qual == 0"},
                    .valid = kAnomaly},
                   {.values = {"swh_ocean"}, .conditions = {"surface_classification_flag == 0", "swh_ocean_qual == 0"}},
                   {.values = {"sig0_ocean"}, .conditions = {"surface_classification_flag == 0", "sig0_ocean_qual == 0"}}}},
      // Flat files of versions C to E, their reduced form, and groups from version F on. SARAL has one band, which its names
      // leave
      // out.
      {.name = "jason-gdr",
       .what = "Jason and SARAL geophysical records, flat or in groups, 1 and 20 Hz (ssha, data_01/ku/ssha)",
       .variables = {"ssha", "data_01/time", "data_20/time", "range_20hz_ku"},
       .missions = {"Jason", "OSTM", "SARAL"},
       .values = {"ssha", "data_01/ku/ssha", "data_01/ssha"},
       .lon = {"lon_20hz", "lon_40hz", "lon", "longitude"},
       .lat = {"lat_20hz", "lat_40hz", "lat", "latitude"},
       .time = {"time_20hz", "time_40hz", "time"},
       .pass_attribute = "pass_number",
       .quality = {{.values = {"ssha", "ssha_mle3"},
                    .conditions = {"surface_type in 0,1", "surface_classification_flag == 0", "ice_flag == 0",
                                   "qual_alt_1hz_range_ku == 0", "qual_alt_1hz_range == 0", "range_ocean_compression_qual == 0"},
                    .valid = kAnomaly},
                   {.values = {"swh_ku", "swh_ku_mle3", "swh"},
                    .conditions = {"surface_type in 0,1", "ice_flag == 0", "qual_alt_1hz_swh_ku == 0", "qual_alt_1hz_swh == 0"}},
                   {.values = {"swh_ocean"},
                    .conditions = {"surface_classification_flag == 0", "swh_ocean_compression_qual == 0"}}}},
  };
}

// ATLAS: six beams, gt1l to gt3r, a group each. Times count the seconds of GPS, which has kept pace with UTC since their epoch.
std::vector<PresetRow> laser() {
  return {
      {.name = "icesat2-atl10",
       .what = "ICESat-2 sea-ice freeboard, all beams (beam_fb_height)",
       .variables = {"beam_fb_height"},
       .values = {"freeboard_segment/beam_fb_height", "beam_freeboard/beam_fb_height"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"delta_time"},
       .every_group = true,
       .quality = {{.values = {"beam_fb_height"}, .conditions = {"beam_fb_quality_flag in 1,2,3"}, .valid = kFreeboard}}},
      {.name = "icesat2-atl07",
       .what = "ICESat-2 sea-ice and lead heights, all beams (height_segment_height)",
       .variables = {"sea_ice_segments/heights/height_segment_height"},
       .values = {"sea_ice_segments/heights/height_segment_height"},
       .lon = {"longitude"},
       .lat = {"latitude"},
       .time = {"delta_time"},
       .every_group = true,
       .quality = {{.values = {"height_segment_height"}, .conditions = {"height_segment_quality == 1"}}}},
      {.name = "icesat2-atl21",
       .what = "ICESat-2 monthly grid of sea surface height anomaly (monthly/mean_ssha)",
       .variables = {"monthly/mean_ssha"},
       .values = {"monthly/mean_ssha"},
       .lon = {"grid_lon"},
       .lat = {"grid_lat"},
       .time = {},
       .quality = {{.values = {"mean_ssha"}, .conditions = {"land_mask_map == 0"}, .valid = kAnomaly}}},
  };
}

std::vector<PresetRow> make_table() {
  std::vector<PresetRow> table = level_3();
  for (const auto& rows : {radar_level_2(), laser()}) table.insert(table.end(), rows.begin(), rows.end());
  return table;
}

bool is_of_product(const NcSource& file, const PresetRow& preset) {
  const auto has = [&](std::string_view name) { return !ending_with(file, name).empty(); };
  if (std::none_of(preset.variables.begin(), preset.variables.end(), has)) return false;
  if (preset.missions.empty()) return std::any_of(preset.lon.begin(), preset.lon.end(), has);
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

const PresetRow* preset_named(const std::string& name) {
  std::vector<std::string_view> known = {"none"};
  for (const PresetRow& preset : preset_table()) {
    if (preset.name == name) return &preset;
    known.push_back(preset.name);
  }
  if (name == "none") return nullptr;
  throw UsageError(fmt::format("no preset is called '{}'{}", name, did_you_mean(name, known)));
}

const PresetRow* find_preset(const std::string& name, const NcSource& file) {
  if (!name.empty()) return preset_named(name);
  const std::vector<PresetRow>& table = preset_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const PresetRow& preset) { return is_of_product(file, preset); });
  return found == table.end() ? nullptr : &*found;
}

std::vector<const NcVariable*> ending_with(const NcSource& file, std::string_view name) {
  std::vector<const NcVariable*> found;
  for (const NcVariable& variable : file.variables()) {
    const std::string_view path = variable.name;
    const bool ends = path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
    if (ends) found.push_back(&variable);
  }
  return found;
}

std::vector<Preset> presets() {
  std::vector<Preset> all;
  for (const PresetRow& preset : preset_table()) all.push_back({std::string(preset.name), std::string(preset.what)});
  return all;
}

}  // namespace drift
