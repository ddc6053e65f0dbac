#pragma once

#include <filesystem>

// Simulated files in the layout of real products, with their packing, fill values, flags and bad records. Values are those of
// drift's own synthetic truth with noise, so that what is mapped from them can be judged.

// Eight passes of SWOT's level 3 over -40 to -28 E, 30 to 40 N, 1 to 7 March 2020, one a file (swot/pass_1.nc ...): packed
// integers, a gap on either side of the nadir, an unedited variable whose bad pixels a flag tells.
void write_swot_passes(const std::filesystem::path& folder);

// Three days of wave heights of Sentinel-3A and 3B from 1 February 2022 on, Copernicus Marine's level 3 in files of three hours
// (s3_waves/global_vavh_l3_rt_s3a_20220201T000000_20220201T030000.nc ...): packed short integers, longitudes from 0 to 360, a
// variable before filtering and one of wind beside the heights, a fill value where there is none. An observation every 5 s.
void write_wave_passes(const std::filesystem::path& folder);

// Eight passes of CryoSat-2 over Antarctic sea ice, level 2 in depth (cryosat2/pass_1.nc ...): ice, leads and ocean by their
// classes, records without a freeboard, a few far off.
void write_cryosat2_passes(const std::filesystem::path& folder);
