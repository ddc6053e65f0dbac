#include "product_files.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "drift/observations.h"
#include "drift/position.h"
#include "drift/simulate.h"
#include "drift/truth.h"

namespace {

constexpr double kDegree = 3.14159265358979323846 / 180.0;
constexpr double kFirstDay = 25627.0;               // 2020-03-01, since 1950
constexpr double kSecondsOfFirstDay = 636336000.0;  // since 2000

void must(int status) {
  if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

// A NetCDF-4 file whose numbers are written when it goes out of definition mode by itself.
class ProductFile {
 public:
  explicit ProductFile(const std::filesystem::path& path) { must(nc_create(path.c_str(), NC_NETCDF4, &file_)); }
  ProductFile(const ProductFile&) = delete;
  ProductFile& operator=(const ProductFile&) = delete;
  ~ProductFile() { nc_close(file_); }

  int dimension(const char* name, std::size_t length) {
    int id = 0;
    must(nc_def_dim(file_, name, length, &id));
    return id;
  }
  // Stored numbers.
  int variable(const char* name, int type, const std::vector<int>& dimensions, const std::vector<double>& numbers,
               const std::string& units = "", const std::string& standard_name = "", double scale = 0.0, double fill = NAN) {
    int id = 0;
    must(nc_def_var(file_, name, type, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    if (!std::isnan(fill)) must(nc_put_att_double(file_, id, "_FillValue", type, 1, &fill));
    if (scale != 0.0) must(nc_put_att_double(file_, id, "scale_factor", NC_DOUBLE, 1, &scale));
    if (!units.empty()) text(id, "units", units);
    if (!standard_name.empty()) text(id, "standard_name", standard_name);
    must(nc_put_var_double(file_, id, numbers.data()));
    return id;
  }
  void text(int variable, const char* name, const std::string& value) {
    must(nc_put_att_text(file_, variable, name, value.size(), value.c_str()));
  }

 private:
  int file_ = 0;
};

// The truth at a place and time, and noise.
class NoisyTruth {
 public:
  NoisyTruth() : named_(drift::synthetic_truth()) {}

  double at(double lon, double lat, double day, double noise) {
    const drift::UnitVector point = drift::unit_vector({lon, lat});
    double value = 0.0;
    named_.truth(std::span(&point, 1), std::span(&day, 1), std::span(&value, 1));
    return value + noise * normal_(random_);
  }
  bool chance(double share) { return std::uniform_real_distribution<double>()(random_) < share; }

 private:
  drift::NamedTruth named_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

constexpr const char* kSince2000 = "seconds since 2000-01-01 00:00:00.0";

void write_swot_pass(const std::filesystem::path& path, int pass, NoisyTruth& truth) {
  constexpr int kLines = 40, kPixels = 15, kNadir = 7;
  constexpr double kFill = 2147483647.0;
  std::vector<double> time, lat, lon, edited, unedited, flag;
  for (int line = 0; line < kLines; ++line) {
    const double later_s = 0.85 * 86400.0 * pass + 4.0 * line;
    time.push_back(kSecondsOfFirstDay + later_s);
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const double across = 8.5 * (pixel - kNadir);  // km; nothing is seen within 10 km of the nadir but by its own altimeter
      const double y = 30.0 + 0.25 * line, x = -39.0 + 1.2 * pass + 0.25 * (y - 30.0) + across / (111.2 * std::cos(y * kDegree));
      const bool gap = pixel != kNadir && std::abs(across) < 10.0, bad = truth.chance(0.01);
      const double value = std::round(1e4 * truth.at(x, y, kFirstDay + later_s / 86400.0, 0.01));
      lat.push_back(std::round(1e6 * y)), lon.push_back(std::round(1e6 * (x + 360.0)));
      edited.push_back(gap || bad ? kFill : value);
      unedited.push_back(gap ? kFill : bad ? value + 60000.0 : value);
      flag.push_back(bad ? 101 : 0);
    }
  }
  ProductFile file(path);
  const int lines = file.dimension("num_lines", kLines), pixels = file.dimension("num_pixels", kPixels);
  file.variable("time", NC_DOUBLE, {lines}, time, kSince2000, "time");
  file.variable("latitude", NC_INT, {lines, pixels}, lat, "degrees_north", "latitude", 1e-6);
  file.variable("longitude", NC_INT, {lines, pixels}, lon, "degrees_east", "longitude", 1e-6);
  for (const char* name : {"ssha_filtered", "ssha_unfiltered", "ssha_unedited"}) {
    const auto& values = std::string(name) == "ssha_unedited" ? unedited : edited;
    const int id = file.variable(name, NC_INT, {lines, pixels}, values, "m", "sea_surface_height_above_sea_level", 1e-4, kFill);
    file.text(id, "coordinates", "longitude latitude");
  }
  file.variable("quality_flag", NC_UBYTE, {lines, pixels}, flag);
  file.text(NC_GLOBAL, "platform", "SWOT");
}

void write_cryosat2_pass(const std::filesystem::path& path, int pass, NoisyTruth& truth) {
  constexpr int kRecords = 250, kIce = 128, kLead = 256, kOcean = 64;
  constexpr double kFill = NC_FILL_INT;
  std::vector<double> time, lat, lon, kind, freeboard, anomaly;
  for (int i = 0; i < kRecords; ++i) {
    const double later_s = 5940.0 * pass + 2.0 * i, y = -60.0 - 0.06 * i, x = 160.0 - 24.7 * pass - 0.03 * i;
    time.push_back(kSecondsOfFirstDay + 37.0 + later_s);  // of TAI
    lat.push_back(std::round(1e7 * y)), lon.push_back(std::round(1e7 * (x < -180.0 ? x + 360.0 : x)));
    const bool ocean = y > -62.0, lead = !ocean && truth.chance(0.2);
    kind.push_back(ocean ? kOcean : lead ? kLead : kIce);
    const double height = 0.15 + 0.2 * truth.at(x, y, kFirstDay + later_s / 86400.0, 0.5) + (truth.chance(0.01) ? 12.0 : 0.0);
    freeboard.push_back(ocean || lead || truth.chance(0.1) ? kFill : std::round(1e3 * height));
    anomaly.push_back(ocean || lead ? std::round(1e3 * truth.at(x, y, kFirstDay, 0.05)) : kFill);
  }
  ProductFile file(path);
  const int n = file.dimension("time_20_ku", kRecords);
  const int tai = file.variable("time_20_ku", NC_DOUBLE, {n}, time, kSince2000, "time");
  file.text(tai, "long_name", "TAI time");
  file.variable("lat_20_ku", NC_INT, {n}, lat, "degrees_north", "latitude", 1e-7);
  file.variable("lon_20_ku", NC_INT, {n}, lon, "degrees_east", "longitude", 1e-7);
  file.variable("flag_surf_type_class_20_ku", NC_SHORT, {n}, kind);
  file.variable("freeboard_20_ku", NC_INT, {n}, freeboard, "m", "sea_ice_freeboard", 1e-3, kFill);
  file.variable("ssha_20_ku", NC_INT, {n}, anomaly, "m", "sea_surface_height_above_sea_level", 1e-3, kFill);
}

// Observations from `first` to before `end`, in the order of time.
void write_wave_pass(const std::filesystem::path& path, const std::string& platform, const drift::Observations& all,
                     std::size_t first, std::size_t end, NoisyTruth& noise) {
  constexpr double kDaysTo2000 = 18262.0, kFill = -32767.0;  // since 1950
  std::vector<double> time, lat, lon, height, unfiltered, wind;
  for (std::size_t i = first; i < end; ++i) {
    time.push_back(std::round((all.time_days[i] - kDaysTo2000) * 86400.0));
    lat.push_back(std::round(1e6 * all.lat_deg[i]));
    lon.push_back(std::round(1e6 * (all.lon_deg[i] < 0.0 ? all.lon_deg[i] + 360.0 : all.lon_deg[i])));
    const bool missing = noise.chance(0.01);
    const double waves = std::max(0.2, 2.5 + 0.8 * all.value[i]);
    height.push_back(missing ? kFill : std::round(1e3 * waves));
    unfiltered.push_back(missing ? kFill : std::round(1e3 * (waves + (noise.chance(0.5) ? 0.2 : -0.2))));
    wind.push_back(std::round(3e3 * waves));
  }
  ProductFile file(path);
  const int n = file.dimension("time", time.size());
  file.variable("time", NC_DOUBLE, {n}, time, kSince2000, "time");
  file.variable("latitude", NC_INT, {n}, lat, "degrees_north", "latitude", 1e-6);
  file.variable("longitude", NC_INT, {n}, lon, "degrees_east", "longitude", 1e-6);
  for (const char* name : {"VAVH", "VAVH_UNFILTERED"}) {
    const int id = file.variable(name, NC_SHORT, {n}, std::string(name) == "VAVH" ? height : unfiltered, "m",
                                 "sea_surface_wave_significant_height", 1e-3, kFill);
    file.text(id, "coordinates", "longitude latitude");
    file.text(id, "long_name", "Significant Wave Height on main altimeter frequency band");
  }
  file.variable("WIND_SPEED", NC_SHORT, {n}, wind, "m s-1", "wind_speed", 1e-3, kFill);
  file.text(NC_GLOBAL, "Conventions", "CF-1.6");
  file.text(NC_GLOBAL, "platform", platform);
}

}  // namespace

void write_wave_passes(const std::filesystem::path& folder) {
  constexpr double kFirst = 26329.0, kWindow = 0.125;  // 2022-02-01; days to a file
  NoisyTruth noise;
  std::filesystem::create_directory(folder);
  const drift::Truth truth = drift::open_truth("synthetic:evolution=3").truth;
  for (const char* platform : {"Sentinel-3A", "Sentinel-3B"}) {
    const drift::Observations all = drift::simulate(truth, {.platforms = {platform},
                                                            .start_days = kFirst,
                                                            .days = 3.0,
                                                            .south_deg = -66.0,
                                                            .north_deg = 66.0,
                                                            .rate_hz = 0.2,
                                                            .noise_sd = 0.08});
    std::size_t end = 0;
    for (int window = 0; window < 24; ++window) {
      const std::size_t first = end;
      while (end < all.size() && all.time_days[end] < kFirst + (window + 1) * kWindow) ++end;
      const int from = 3 * (window % 8), day = 1 + window / 8;
      const std::string name =
          fmt::format("global_vavh_l3_rt_s3{}_202202{:02}T{:02}0000_202202{:02}T{:02}0000.nc",
                      std::string(platform).back() == 'A' ? 'a' : 'b', day, from, day + (from == 21 ? 1 : 0), (from + 3) % 24);
      write_wave_pass(folder / name, platform, all, first, end, noise);
    }
  }
}

void write_swot_passes(const std::filesystem::path& folder) {
  NoisyTruth truth;
  std::filesystem::create_directory(folder);
  for (int pass = 0; pass < 8; ++pass) write_swot_pass(folder / fmt::format("pass_{}.nc", pass + 1), pass, truth);
}

void write_cryosat2_passes(const std::filesystem::path& folder) {
  NoisyTruth truth;
  std::filesystem::create_directory(folder);
  for (int pass = 0; pass < 8; ++pass) write_cryosat2_pass(folder / fmt::format("pass_{}.nc", pass + 1), pass, truth);
}
