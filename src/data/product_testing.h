#pragma once

// Small files of the products that presets know, one writer each, with the products' own names, packing, flags and quirks. Names
// and flags are those of the products' documentation and of public programs that read them.

#include <filesystem>
#include <string>
#include <vector>

#include "netcdf/netcdf_testing.h"

namespace drift {

inline constexpr double kProductTime = 7e8;  // seconds since 2000-01-01: 2022-03-07
inline constexpr const char* kSince2000 = "seconds since 2000-01-01 00:00:00.0";

// start, start + step, ...
inline std::vector<double> steps(std::size_t count, double start, double step) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(start + step * static_cast<double>(i));
  return numbers;
}

// Level 2 of Sentinel-6, six records: good; land; good but for its range in Ku; good; 328 m, which no flag tells; without a flag.
// Its C band, of low resolution alone, has flags of the same name, which come first and are all bad.
inline void write_sentinel6(const std::filesystem::path& path, bool high_resolution = false) {
  NcTestFile file(path);
  file.enter("data_01");
  const int time = file.dimension("time", 6);
  file.variable("time", NC_DOUBLE, {time}, steps(6, kProductTime, 1.0), kSince2000, "time");
  file.pack(file.variable("latitude", NC_INT, {time}, steps(6, 4e7, 6e4), "degrees_north", "latitude"), 1e-6);
  file.pack(file.variable("longitude", NC_INT, {time}, steps(6, 3.2e8, 3e4), "degrees_east", "longitude"), 1e-6);
  const int surface = file.variable("surface_classification_flag", NC_BYTE, {time}, {0, 1, 0, 0, 0, 127});
  file.attribute(surface, "flag_meanings",
                 "open_ocean land continental_water aquatic_vegetation continental_ice_snow floating_ice salted_basin");
  file.attribute(surface, "_FillValue", NC_BYTE, {127});
  if (!high_resolution) {
    file.enter("data_01/c");
    file.variable("range_ocean_qual", NC_BYTE, {time}, std::vector<double>(6, 1.0));
  }
  file.enter("data_01/ku");
  file.variable("range_ocean_qual", NC_BYTE, {time}, {0, 0, 1, 0, 0, 0});
  file.variable("swh_ocean_qual", NC_BYTE, {time}, {0, 0, 0, 1, 0, 0});
  const int ssha =
      file.variable("ssha", NC_INT, {time}, {1000, 2000, 3000, -1500, 3280000, 100}, "m", "sea_surface_height_above_sea_level");
  file.pack(ssha, 1e-4);
  file.pack(file.variable("swh_ocean", NC_INT, {time}, steps(6, 2000, 10), "m", "sea_surface_wave_significant_height"), 1e-3);
  file.enter("");
  file.attribute(NC_GLOBAL, "mission_name", "Sentinel-6");
  file.attribute(NC_GLOBAL, "cycle_number", NC_INT, {50});
  file.attribute(NC_GLOBAL, "pass_number", NC_INT, {77});
}

// Level 2 of Sentinel-3's altimeter: each rate with times and positions of its own, one pass a file. At 20 Hz four records: open
// ocean, land, open ocean with a bad range, and one without a value.
inline void write_sentinel3(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int t01 = file.dimension("time_01", 2), t20 = file.dimension("time_20_ku", 4);
  const auto add = [&](const std::string& suffix, int dimension, const std::vector<double>& times,
                       const std::vector<double>& at) {
    const int time = file.variable("time_" + suffix, NC_DOUBLE, {dimension}, times, kSince2000, "time");
    file.attribute(time, "long_name", "UTC: " + suffix);
    file.attribute(time, "calendar", "gregorian");
    file.pack(file.variable("lat_" + suffix, NC_INT, {dimension}, at, "degrees_north", "latitude"), 1e-6);
    file.pack(file.variable("lon_" + suffix, NC_INT, {dimension}, at, "degrees_east", "longitude"), 1e-6);
  };
  add("01", t01, {6e8, 6e8 + 1}, {1000000, 1060000});
  add("20_ku", t20, steps(4, 6e8, 0.05), steps(4, 1000000, 3000));
  file.pack(file.variable("ssha_01_ku", NC_SHORT, {t01}, {100, 110}, "m"), 0.001);
  file.variable("surf_class_01", NC_BYTE, {t01}, {0, 0});
  const int ssha = file.variable("ssha_20_ku", NC_SHORT, {t20}, {100, 101, 102, 32767}, "m");
  file.pack(ssha, 0.001);
  file.attribute(ssha, "_FillValue", NC_SHORT, {32767});
  file.pack(file.variable("freeboard_20_ku", NC_SHORT, {t20}, {10, 11, 12, 13}, "m"), 0.001);
  file.variable("surf_class_20_ku", NC_BYTE, {t20}, {0, 1, 0, 0});
  file.variable("range_ocean_qual_20_ku", NC_BYTE, {t20}, {0, 0, 1, 0});
  file.attribute(NC_GLOBAL, "mission_name", "Sentinel 3A");
  file.attribute(NC_GLOBAL, "title", "IPF SRAL/MWR Level 2 Measurement");
  file.attribute(NC_GLOBAL, "cycle_number", NC_INT, {50});
  file.attribute(NC_GLOBAL, "pass_number", NC_INT, {77});
}

// Jason's geophysical records, flat as in versions C to E or in groups as from version F on, or SARAL's, flat, of one band that
// no name mentions and with 40 measurements a record: eight records. Good; land; enclosed sea (good); sea ice; a bad range; 3 m,
// which no flag tells; without a value; good but for its wave height.
enum class JasonForm { flat, groups, saral };
inline void write_jason(const std::filesystem::path& path, JasonForm form = JasonForm::flat) {
  const bool groups = form == JasonForm::groups, saral = form == JasonForm::saral;
  const std::string band = saral ? "" : "_ku";
  NcTestFile file(path, groups ? NC_NETCDF4 : 0);
  if (groups) file.enter("data_01");
  const int time = file.dimension("time", 8);
  const std::string position = groups ? "itude" : "";
  file.variable("time", NC_DOUBLE, {time}, steps(8, 6e8, 1.0), kSince2000, "time");
  file.pack(file.variable("lat" + position, NC_INT, {time}, steps(8, 4e7, 6e4), "degrees_north", "latitude"), 1e-6);
  file.pack(file.variable(groups ? "longitude" : "lon", NC_INT, {time}, steps(8, 3.2e8, 3e4), "degrees_east", "longitude"), 1e-6);
  const std::vector<double> ssha = {100, -50, 200, 300, 400, 3000, 32767, 500}, bad_range = {0, 0, 0, 0, 1, 0, 0, 0},
                            bad_height = {0, 0, 0, 0, 0, 0, 0, 1};
  if (groups) {
    // Of one flag: open ocean, land, inland water, floating ice.
    const int surface = file.variable("surface_classification_flag", NC_BYTE, {time}, {0, 1, 0, 5, 0, 0, 0, 0});
    file.attribute(surface, "flag_meanings",
                   "open_ocean land continental_water aquatic_vegetation continental_ice_snow floating_ice salted_basin");
    file.enter("data_01/ku");
  } else {
    file.attribute(file.variable("surface_type", NC_BYTE, {time}, {0, 3, 1, 0, 0, 0, 0, 0}), "flag_meanings",
                   "ocean lake_enclosed_sea ice land");
    file.attribute(file.variable("ice_flag", NC_BYTE, {time}, {0, 0, 0, 1, 0, 0, 0, 0}), "flag_meanings", "no_ice ice");
  }
  file.variable(groups ? "range_ocean_compression_qual" : "qual_alt_1hz_range" + band, NC_BYTE, {time}, bad_range);
  file.variable(groups ? "swh_ocean_compression_qual" : "qual_alt_1hz_swh" + band, NC_BYTE, {time}, bad_height);
  const int value = file.variable("ssha", NC_SHORT, {time}, ssha, "m", "sea_surface_height_above_sea_level");
  file.pack(value, 1e-3);
  file.attribute(value, "_FillValue", NC_SHORT, {32767});
  const int height = file.variable(groups ? "swh_ocean" : "swh" + band, NC_SHORT, {time}, steps(8, 2000, 10), "m",
                                   "sea_surface_wave_significant_height");
  file.pack(height, 1e-3);
  if (saral) {
    const int fast = file.dimension("meas_ind", 40);
    file.variable("time_40hz", NC_DOUBLE, {time, fast}, steps(320, 6e8, 0.025), kSince2000, "time");
    for (const char* name : {"lat_40hz", "lon_40hz", "range_40hz"})
      file.pack(file.variable(name, NC_INT, {time, fast}, steps(320, 4e7, 1500), name[0] == 'r' ? "m" : "degrees"), 1e-6);
  }
  if (groups) file.enter("");
  file.attribute(NC_GLOBAL, "mission_name", groups ? "Jason-3" : saral ? "SARAL" : "OSTM/Jason-2");
  file.attribute(NC_GLOBAL, "cycle_number", NC_INT, {226});
  file.attribute(NC_GLOBAL, "pass_number", NC_INT, {130});
}

// Level 3 of SWOT's nadir altimeter, as Copernicus Marine gives it: four points of one pass.
inline void write_swot_nadir(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int time = file.dimension("time", 4);
  file.variable("time", NC_DOUBLE, {time}, steps(4, 26700.0, 1e-5), "days since 1950-01-01 00:00:00", "time");
  file.pack(file.variable("latitude", NC_INT, {time}, steps(4, 4e7, 6e4), "degrees_north", "latitude"), 1e-6);
  file.pack(file.variable("longitude", NC_INT, {time}, steps(4, 3.2e8, 3e4), "degrees_east", "longitude"), 1e-6);
  file.variable("cycle", NC_SHORT, {time}, std::vector<double>(4, 5), "1");
  file.variable("track", NC_SHORT, {time}, std::vector<double>(4, 12), "1");
  for (const char* name : {"sla_unfiltered", "sla_filtered", "mdt"}) {
    file.pack(file.variable(name, NC_SHORT, {time}, steps(4, 100, 10), "m"), 0.001);
  }
  file.attribute(NC_GLOBAL, "platform", "SWOT-nadir");
}

// Level 3 of SWOT, four lines of five pixels with the nadir in the middle and gaps beside it.
inline void write_swot_l3(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int lines = file.dimension("num_lines", 4), pixels = file.dimension("num_pixels", 5);
  file.variable("time", NC_DOUBLE, {lines}, steps(4, kProductTime, 0.3), kSince2000, "time");
  std::vector<double> lat, lon, edited, unedited, flag;
  for (int line = 0; line < 4; ++line) {
    for (int pixel = 0; pixel < 5; ++pixel) {
      lat.push_back(4e7 + 2e4 * line);
      lon.push_back(3.2e8 + 2e4 * pixel);
      const bool gap = pixel == 1 || pixel == 3, bad = line == 2 && pixel == 4;
      edited.push_back(gap || bad ? 2147483647.0 : 100.0 * line + pixel);
      unedited.push_back(gap ? 2147483647.0 : bad ? 90000.0 : 100.0 * line + pixel);
      flag.push_back(bad ? 101 : 0);
    }
  }
  file.pack(file.variable("latitude", NC_INT, {lines, pixels}, lat, "degrees_north", "latitude"), 1e-6);
  file.pack(file.variable("longitude", NC_INT, {lines, pixels}, lon, "degrees_east", "longitude"), 1e-6);
  for (const char* name : {"ssha_filtered", "ssha_unfiltered", "ssha_unedited", "mdt"}) {
    const int id = file.variable(name, NC_INT, {lines, pixels}, std::string(name) == "ssha_unedited" ? unedited : edited, "m");
    file.pack(id, 1e-4);
    file.attribute(id, "_FillValue", NC_INT, {2147483647});
    file.attribute(id, "coordinates", "longitude latitude");
  }
  file.variable("quality_flag", NC_UBYTE, {lines, pixels}, flag);
  file.attribute(NC_GLOBAL, "platform", "SWOT");
}

// ICESat-2, two beams of three segments each. `freeboard`: ATL10, else ATL07. `older`: ATL10 as up to release 5, whose freeboards
// and heights are in sibling groups, each with positions. Fill values are the largest of a float.
inline void write_icesat2(const std::filesystem::path& path, bool freeboard, bool older = false) {
  constexpr double kFill = 3.4028234663852886e+38;
  NcTestFile file(path);
  double offset = 0.0;
  for (const char* beam : {"gt1l", "gt2r"}) {
    const std::string segments = std::string(beam) + (older       ? "/freeboard_beam_segment"
                                                      : freeboard ? "/freeboard_segment"
                                                                  : "/sea_ice_segments");
    file.enter(segments + (older ? "/beam_freeboard" : ""));
    const int n = file.dimension("delta_time", 3);
    const int time =
        file.variable("delta_time", NC_DOUBLE, {n}, steps(3, 1.3e8 + offset, 0.01), "seconds since 2018-01-01", "time");
    file.attribute(time, "long_name", "Elapsed GPS seconds");
    file.variable("latitude", NC_DOUBLE, {n}, steps(3, 80.0 + offset, 1e-4), "degrees_north", "latitude");
    file.variable("longitude", NC_DOUBLE, {n}, steps(3, -120.0, 1e-4), "degrees_east", "longitude");
    if (freeboard) {
      const int height = file.variable("beam_fb_height", NC_FLOAT, {n}, {0.3 + offset, kFill, 0.4 + offset}, "meters");
      file.attribute(height, "_FillValue", NC_FLOAT, {kFill});
      file.variable("beam_fb_quality_flag", NC_BYTE, {n}, {1, -1, offset == 0.0 ? 2.0 : 5.0});
    }
    file.enter(segments + (older ? "/height_segments" : "/heights"));
    const int m = older ? file.dimension("delta_time", 3) : n;
    if (older) {  // with positions of their own, called alike
      file.variable("latitude", NC_DOUBLE, {m}, steps(3, 70.0, 1e-4), "degrees_north", "latitude");
      file.variable("longitude", NC_DOUBLE, {m}, steps(3, -100.0, 1e-4), "degrees_east", "longitude");
    }
    const int height = file.variable("height_segment_height", NC_FLOAT, {m}, {0.1 + offset, 0.2 + offset, kFill}, "meters");
    file.attribute(height, "_FillValue", NC_FLOAT, {kFill});
    file.variable("height_segment_quality", NC_BYTE, {m}, {1, offset == 0.0 ? 0.0 : 1.0, 1});
    offset += 0.01;
  }
  file.enter("");
  file.attribute(NC_GLOBAL, "platform", "ICESat-2");
}

// ICESat-2's monthly grid of sea surface height, 2 by 2 cells, one of them land.
inline void write_atl21(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int y = file.dimension("grid_y", 2), x = file.dimension("grid_x", 2);
  file.variable("grid_lat", NC_DOUBLE, {y, x}, {80, 80.2, 80.4, 80.6}, "degrees_north");
  file.variable("grid_lon", NC_DOUBLE, {y, x}, {10, 11, 12, 13}, "degrees_east");
  file.variable("land_mask_map", NC_BYTE, {y, x}, {0, 0, 1, 0});
  for (const char* group : {"monthly", "daily/day01"}) {
    file.enter(group);
    for (const char* name : {"mean_ssha", "mean_weighted_mss", "sigma"}) {
      const int id = file.variable(name, NC_FLOAT, {y, x}, {0.1, 3.4028234663852886e+38, 0.2, 0.3}, "meters");
      file.attribute(id, "_FillValue", NC_FLOAT, {3.4028234663852886e+38});
    }
  }
}

// NASA's standardised heights: a flag of words without values, a standard_name that is none, and a satellite called Satellite.
inline void write_nasa_ssh(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int time = file.dimension("time", 5);
  file.variable("time", NC_DOUBLE, {time}, steps(5, 1e9, 1.0), "seconds since 1990-01-01", "time");
  file.variable("latitude", NC_FLOAT, {time}, steps(5, 10.0, 0.06), "degrees_north", "latitude");
  file.variable("longitude", NC_FLOAT, {time}, steps(5, 200.0, 0.03), "degrees_east", "longitude");
  const int ssh = file.variable("ssh", NC_DOUBLE, {time}, {0.1, 0.2, 17.0, 1.7976931348623157e308, 0.3}, "m", "ssh");
  file.attribute(ssh, "long_name", "sea surface height relative to mean_sea_surface");
  file.variable("ssh_smoothed", NC_DOUBLE, {time}, steps(5, 0.1, 0.01), "m", "ssh_smoothed");
  file.variable("dac", NC_DOUBLE, {time}, steps(5, 0.1, 0.01), "m", "dac");
  file.variable("cycle", NC_INT, {time}, std::vector<double>(5, 1079));
  file.variable("pass", NC_INT, {time}, std::vector<double>(5, 12));
  file.attribute(file.variable("nasa_flag", NC_BYTE, {time}, {0, 0, 1, 1, 0}), "flag_meanings", "good bad");
  file.attribute(NC_GLOBAL, "platform", "Satellite");
}

// Argo: two profiles of three levels, flags of characters, values as measured and as adjusted.
inline void write_argo(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int profile = file.dimension("N_PROF", 2), level = file.dimension("N_LEVELS", 3), letters = file.dimension("STRING8", 8);
  file.variable("JULD", NC_DOUBLE, {profile}, {26000.25, 26001.25}, "days since 1950-01-01 00:00:00 UTC", "time");
  file.variable("LATITUDE", NC_DOUBLE, {profile}, {40.0, 41.0}, "degree_north", "latitude");
  file.variable("LONGITUDE", NC_DOUBLE, {profile}, {-30.0, -31.0}, "degree_east", "longitude");
  file.characters("PLATFORM_NUMBER", {profile, letters}, "6901234 6901235 ");
  file.characters("JULD_QC", {profile}, "18");
  file.characters("POSITION_QC", {profile}, "11");
  file.variable("PRES", NC_FLOAT, {profile, level}, {10, 100, 200, 11, 101, 202}, "decibar", "sea_water_pressure");
  file.characters("PRES_QC", {profile, level}, "111411");
  file.variable("TEMP", NC_FLOAT, {profile, level}, {20, 15, 10, 21, 16, 99999}, "degree_Celsius", "sea_water_temperature");
  file.characters("TEMP_QC", {profile, level}, "114129");
  file.variable("PSAL", NC_FLOAT, {profile, level}, {35, 35.1, 35.2, 35.3, 35.4, 35.5}, "psu", "sea_water_salinity");
  file.characters("PSAL_QC", {profile, level}, "111131");
  for (const std::string name : {"PRES", "TEMP", "PSAL"}) {
    const double first = name == "PRES" ? 10.5 : name == "TEMP" ? 19.5 : 34.5;
    file.variable(name + "_ADJUSTED", NC_FLOAT, {profile, level}, steps(6, first, 0.125), name == "PRES" ? "decibar" : "");
  }
  file.characters("PRES_ADJUSTED_QC", {profile, level}, "411111");
  file.characters("TEMP_ADJUSTED_QC", {profile, level}, "111113");
  file.characters("PSAL_ADJUSTED_QC", {profile, level}, "141111");
}

// Daily winds from a radiometer: morning and evening, each cell with the seconds by which it was seen after the file's time.
inline void write_ssmis(const std::filesystem::path& path) {
  NcTestFile file(path);
  const int time = file.dimension("time", 2), lat = file.dimension("latitude", 2), lon = file.dimension("longitude", 2);
  file.variable("time", NC_INT, {time}, {0, 43200}, "seconds since 2021-11-08 00:00:00", "time");
  file.variable("latitude", NC_FLOAT, {lat}, {-0.125, 0.125}, "degrees_north", "latitude");
  file.variable("longitude", NC_FLOAT, {lon}, {0.125, 359.875}, "degrees_east", "longitude");
  file.variable("sst_dtime", NC_FLOAT, {time, lat, lon}, steps(8, 600, 60), "seconds");
  for (const char* name : {"wind_speed", "atmosphere_water_vapor_content", "atmosphere_cloud_liquid_water_content"}) {
    file.variable(name, NC_FLOAT, {time, lat, lon}, {5, 6, -999, 8, 9, 10, 11, 12}, name[0] == 'w' ? "m s-1" : "kg m-2");
  }
}

// CryoSat-2 over sea ice, 20 Hz, five records: ice, lead, ice without a freeboard, ice far off, ice. Baselines D and E of level 2
// have the point of closest approach, their products in depth have not and name no mission.
inline void write_cryosat2(const std::filesystem::path& path, bool in_depth, const std::string& time_name = "TAI time") {
  NcTestFile file(path);
  const int n = file.dimension("time_20_ku", 5);
  file.attribute(file.variable("time_20_ku", NC_DOUBLE, {n}, steps(5, 6e8, 0.05), kSince2000, "time"), "long_name", time_name);
  for (const std::string kind : {"", "poca_"}) {
    if (in_depth && !kind.empty()) continue;
    const double at = kind.empty() ? 800000000 : 800010000;
    file.pack(file.variable("lat_" + kind + "20_ku", NC_INT, {n}, steps(5, at, 100), "degrees_north", "latitude"), 1e-7);
    file.pack(file.variable("lon_" + kind + "20_ku", NC_INT, {n}, steps(5, at, 100), "degrees_east", "longitude"), 1e-7);
  }
  if (in_depth) file.variable("flag_surf_type_class_20_ku", NC_SHORT, {n}, {128, 256, 128, 128, 128});
  const int freeboard =
      file.variable("freeboard_20_ku", NC_INT, {n}, {100, 0, NC_FILL_INT, -37000, 110}, "m", "sea_ice_freeboard");
  file.pack(freeboard, 0.001);
  file.pack(file.variable("height_1_20_ku", NC_INT, {n}, steps(5, 100, 10), "m"), 0.001);
  file.pack(file.variable("ssha_20_ku", NC_INT, {n}, steps(5, 50, 10), "m"), 0.001);
  if (!in_depth) file.attribute(NC_GLOBAL, "mission", "Cryosat");
}

}  // namespace drift
