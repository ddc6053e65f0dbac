#include "drift/track_file.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/blocks.h"
#include "drift/error.h"
#include "drift/standard_name.h"
#include "netcdf/acdd.h"
#include "netcdf/netcdf_writer.h"

namespace drift {
namespace {

constexpr std::size_t kChunk = 131072;  // observations: a megabyte of doubles

void check_columns(const Observations& observations) {
  const std::size_t count = observations.size();
  if (count == 0) throw UsageError("track file: there are no observations to write");
  const auto fits = [&](const char* name, std::size_t size, bool may_be_empty) {
    if (size == count || (may_be_empty && size == 0)) return;
    throw UsageError(fmt::format("track file: {} values but {} {}", count, size, name));
  };
  fits("longitudes", observations.lon_deg.size(), false);
  fits("latitudes", observations.lat_deg.size(), false);
  fits("times", observations.time_days.size(), true);
  fits("sigmas", observations.sigma.size(), true);
  fits("tracks", observations.track.size(), true);
  fits("platforms", observations.platform.size(), true);
  for (std::size_t i = 0; i < count; ++i) {
    const bool good = std::isfinite(observations.lon_deg[i]) && std::isfinite(observations.lat_deg[i]) &&
                      (observations.time_days.empty() || std::isfinite(observations.time_days[i])) &&
                      std::isfinite(observations.value[i]);
    if (!good) throw UsageError(fmt::format("track file: observation {} has a number that is not finite", i));
    if (!observations.platform.empty() && observations.platform[i] >= observations.platform_names.size()) {
      throw UsageError(fmt::format("track file: observation {} is of platform {}, but {} have a name", i,
                                   observations.platform[i], observations.platform_names.size()));
    }
  }
}

// CF's flag_meanings are words.
std::string as_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text.empty() ? "unknown" : text;
}

class TrackFile {
 public:
  TrackFile(const std::filesystem::path& path, const Observations& observations, const VariableInfo& value,
            const TrackFileOptions& options)
      : observations_(observations), value_(value), options_(options), writer_(path) {
    constexpr std::size_t kBytesEach = 4 * sizeof(double) + sizeof(float) + sizeof(std::int32_t) + sizeof(std::int16_t);
    constexpr std::size_t kHeaders = 1u << 20;
    writer_.reserve(kBytesEach * (observations.size() + kChunk) + kHeaders);
    obs_ = writer_.dimension("obs", observations.size());
  }

  void write() && {
    write_position();
    write_time();
    write_values();
    write_labels();
    write_file_attributes();
    writer_.finish();
  }

 private:
  using Texts = std::vector<std::pair<const char*, std::string>>;

  int define(const std::string& name, int type, const Texts& attributes) {
    const int id = writer_.variable(name, type, {obs_}, {.chunks = {std::min(kChunk, observations_.size())}});
    for (const auto& [attribute, text] : attributes) writer_.attribute(id, attribute, text);
    return id;
  }

  template <class Column>
  void fill(int id, const Column& column) {
    using Number = typename Column::value_type;
    for_blocks(column.size(), kChunk, [&](std::size_t first, std::size_t count) {
      writer_.write(id, {first}, {count}, std::span<const Number>(column).subspan(first, count));
    });
  }

  void write_position() {
    const bool plane = options_.on_plane;
    const Texts lon = {{"standard_name", "longitude"}, {"long_name", "longitude"}, {"units", "degrees_east"}, {"axis", "X"}},
                lat = {{"standard_name", "latitude"}, {"long_name", "latitude"}, {"units", "degrees_north"}, {"axis", "Y"}},
                x = {{"long_name", "x"}, {"units", options_.plane_unit}, {"axis", "X"}},
                y = {{"long_name", "y"}, {"units", options_.plane_unit}, {"axis", "Y"}};
    fill(define(plane ? "x" : "longitude", NC_DOUBLE, plane ? x : lon), observations_.lon_deg);
    fill(define(plane ? "y" : "latitude", NC_DOUBLE, plane ? y : lat), observations_.lat_deg);
  }

  void write_time() {
    if (observations_.time_days.empty()) return;
    const Texts calendar = {{"standard_name", "time"},
                            {"long_name", "time (UTC)"},
                            {"units", "days since 1950-01-01 00:00:00"},
                            {"calendar", "standard"},
                            {"axis", "T"}};
    const Texts plain = {{"long_name", "time, counted as the data count it"}, {"units", "1"}};
    fill(define("time", NC_DOUBLE, options_.calendar_time ? calendar : plain), observations_.time_days);
  }

  void write_values() {
    const std::string name = value_.name.empty() ? "value" : value_.name;
    const std::string sigma = observations_.sigma.empty() ? "" : name + "_uncertainty";
    const std::string coordinates =
        fmt::format("{}{}", observations_.time_days.empty() ? "" : "time ", options_.on_plane ? "y x" : "latitude longitude");
    const std::string long_name = value_.long_name.empty() ? name : value_.long_name;
    const std::string standard_name = standard_name_problem(value_.standard_name).empty() ? value_.standard_name : "";
    fill(define(name, NC_DOUBLE,
                {{"standard_name", standard_name},
                 {"long_name", long_name},
                 {"units", value_.unit},
                 {"coordinates", coordinates},
                 {"ancillary_variables", sigma}}),
         observations_.value);
    if (sigma.empty()) return;
    fill(define(sigma, NC_FLOAT,
                {{"standard_name", standard_name.empty() ? "" : standard_name + " standard_error"},
                 {"long_name", "Standard deviation of the error of " + long_name},
                 {"units", value_.unit},
                 {"coordinates", coordinates}}),
         observations_.sigma);
  }

  void write_labels() {
    if (!observations_.track.empty()) {
      fill(define("track", NC_INT, {{"long_name", "pass, numbered through all platforms"}, {"units", "1"}}), observations_.track);
    }
    if (observations_.platform.empty()) return;
    const std::vector<std::string>& names = observations_.platform_names;
    const int type = names.size() <= 128 ? NC_BYTE : NC_SHORT;
    std::string meanings;
    for (const std::string& name : names) meanings += fmt::format("{}{}", meanings.empty() ? "" : " ", as_word(name));
    std::vector<double> numbers(names.size());
    std::iota(numbers.begin(), numbers.end(), 0.0);
    const int id = define("platform", type, {{"long_name", "platform"}, {"flag_meanings", meanings}});
    writer_.attribute(id, "flag_values", type, numbers);
    fill(id, observations_.platform);
  }

  void write_file_attributes() {
    FileAttributes own;
    own.texts["title"] = fmt::format("Observations of {}", value_.long_name.empty() ? value_.name : value_.long_name);
    own.texts["featureType"] = "point";
    own.texts["cdm_data_type"] = "Point";
    if (!options_.on_plane) {
      const auto [west, east] = std::minmax_element(observations_.lon_deg.begin(), observations_.lon_deg.end());
      const auto [south, north] = std::minmax_element(observations_.lat_deg.begin(), observations_.lat_deg.end());
      own.add_box(*west, *south, *east, *north);
    }
    if (options_.calendar_time && !observations_.time_days.empty()) {
      const auto [first, last] = std::minmax_element(observations_.time_days.begin(), observations_.time_days.end());
      own.add_time_span(*first, *last);
    }
    write_attributes(writer_, own, options_.attributes);
  }

  const Observations& observations_;
  const VariableInfo& value_;
  const TrackFileOptions& options_;
  NcWriter writer_;
  int obs_ = -1;
};

}  // namespace

void write_track_file(const std::filesystem::path& path, const Observations& observations, const VariableInfo& value,
                      const TrackFileOptions& options) {
  check_columns(observations);
  TrackFile(path, observations, value, options).write();
}

}  // namespace drift
