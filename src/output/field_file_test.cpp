#include "drift/field_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/netcdf_call.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

FieldLayer layer_called(const std::string& name, std::size_t members = 0) {
  return {.info = {.name = name,
                   .long_name = "Sea level anomaly",
                   .standard_name = "sea_surface_height_above_sea_level",
                   .unit = "m"},
          .members = members};
}

FieldHeader options_on(const std::string& grid) {
  return {.grid = parse_grid(grid), .layers = {layer_called("sla")}, .attributes = {{"date_created", "2020-01-01T00:00:00Z"}}};
}

// A value for every place of a file, so that no two can be swapped unseen.
double value_at(std::size_t layer, std::size_t time, std::size_t member, std::size_t cell) {
  return static_cast<double>(layer) * 1000.0 + static_cast<double>(time) * 100.0 + static_cast<double>(member) * 10.0 +
         static_cast<double>(cell) * 0.01;
}

// Everything, in blocks of three rows.
void write_all(const std::filesystem::path& path, const FieldHeader& options) {
  FieldFileWriter writer(path, options);
  const Grid& grid = options.grid;
  for (std::size_t time = 0; time < std::max<std::size_t>(1, options.time_days.size()); ++time) {
    for (std::size_t row = 0; row < grid.y.count; row += 3) {
      const std::size_t cells = std::min<std::size_t>(3, grid.y.count - row) * grid.x.count;
      for (std::size_t layer = 0; layer < options.layers.size(); ++layer) {
        for (std::size_t member = 0; member < std::max<std::size_t>(1, options.layers[layer].members); ++member) {
          std::vector<double> values(cells);
          for (std::size_t i = 0; i < cells; ++i) values[i] = value_at(layer, time, member, row * grid.x.count + i);
          writer.write(layer, time, row, values, member);
        }
      }
    }
  }
  writer.finish();
}

std::vector<double> read(const std::filesystem::path& path, const std::string& name) {
  const NcReader reader(path);
  const NcVariable* variable = reader.find(name);
  EXPECT_NE(variable, nullptr) << name;
  return variable == nullptr ? std::vector<double>() : reader.read(*variable);
}

std::string text(const NcReader& reader, const std::string& variable, const std::string& attribute) {
  const NcVariable* found = reader.find(variable);
  return found == nullptr ? "no such variable" : reader.text(*found, attribute).value_or("none");
}

// A number among the attributes of the file itself.
double file_number(const std::filesystem::path& path, const char* attribute) {
  const auto lock = lock_netcdf();
  int file = -1;
  double number = std::nan("");
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_get_att_double(file, NC_GLOBAL, attribute, &number), NC_NOERR) << attribute;
  nc_close(file);
  return number;
}

TEST(FieldFile, KeepsEveryValueInItsPlace) {
  const ScratchFolder folder;
  FieldHeader options = options_on("bbox:0,60,10,70:1");
  options.layers = {layer_called("sla"), layer_called("sla_members", 2)};
  options.time_days = {25000.0, 25000.5, 25002.0};
  write_all(folder / "map.nc", options);
  const std::vector<double> single = read(folder / "map.nc", "sla"), members = read(folder / "map.nc", "sla_members");
  ASSERT_EQ(single.size(), 3u * 100);
  ASSERT_EQ(members.size(), 3u * 2 * 100);
  for (std::size_t time = 0; time < 3; ++time) {
    for (std::size_t cell = 0; cell < 100; ++cell) {
      EXPECT_FLOAT_EQ(static_cast<float>(single[time * 100 + cell]), static_cast<float>(value_at(0, time, 0, cell)));
      for (std::size_t member = 0; member < 2; ++member) {
        EXPECT_FLOAT_EQ(static_cast<float>(members[(time * 2 + member) * 100 + cell]),
                        static_cast<float>(value_at(1, time, member, cell)));
      }
    }
  }
  EXPECT_EQ(read(folder / "map.nc", "time"), options.time_days);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(FieldFile, WritesWhatIsNotANumberAndWhatWasNeverWrittenAsMissing) {
  const ScratchFolder folder;
  const FieldHeader options = options_on("bbox:0,60,2,62:1");
  FieldFileWriter writer(folder / "map.nc", options);
  writer.write(0, 0, 0, std::vector<double>{1.0, kNan});
  writer.finish();
  const std::vector<double> values = read(folder / "map.nc", "sla");
  EXPECT_EQ(values[0], 1.0);
  for (const std::size_t i : {1, 2, 3}) EXPECT_TRUE(std::isnan(values[i])) << i;
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(reader.numbers(*reader.find("sla"), "_FillValue").size(), 1u);
  EXPECT_EQ(reader.numbers(*reader.find("sla"), "actual_range"), (std::vector<double>{1.0, 1.0})) << "GMT reads it";
}

TEST(FieldFile, DescribesItsCoordinatesAsCfAsks) {
  const ScratchFolder folder;
  FieldHeader options = options_on("bbox:0,60,10,70:1");
  options.time_days = {25000.0};
  options.layers[0].ancillary = {"sla_sd", "sla_count"};
  options.layers[0].cell_methods = "time: mean";
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(text(reader, "time", "units"), "days since 1950-01-01 00:00:00");
  EXPECT_EQ(text(reader, "time", "calendar"), "standard");
  EXPECT_EQ(text(reader, "time", "axis"), "T");
  EXPECT_EQ(text(reader, "latitude", "units"), "degrees_north");
  EXPECT_EQ(text(reader, "longitude", "standard_name"), "longitude");
  EXPECT_EQ(text(reader, "sla", "units"), "m");
  EXPECT_EQ(text(reader, "sla", "ancillary_variables"), "sla_sd sla_count");
  EXPECT_EQ(text(reader, "sla", "cell_methods"), "time: mean");
  EXPECT_EQ(read(folder / "map.nc", "longitude").front(), 0.5);
}

// "1" would say that they have no dimension.
TEST(FieldFile, GivesValuesOfUnknownUnitsNoUnits) {
  const ScratchFolder folder;
  FieldHeader options = options_on("bbox:0,60,10,70:1");
  options.layers[0].info.unit.clear();
  options.layers[0].info.standard_name.clear();
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(text(reader, "sla", "units"), "none");
  EXPECT_EQ(text(reader, "sla", "standard_name"), "none");
  EXPECT_EQ(text(reader, "sla", "long_name"), "Sea level anomaly");
}

TEST(FieldFile, PutsAProjectedGridOnTheEarthTwice) {
  const ScratchFolder folder;
  const FieldHeader options = options_on("EPSG:6931:500km");
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(text(reader, "sla", "grid_mapping"), "crs");
  EXPECT_EQ(text(reader, "sla", "coordinates"), "longitude latitude");
  EXPECT_EQ(text(reader, "crs", "grid_mapping_name"), "lambert_azimuthal_equal_area");
  EXPECT_THAT(text(reader, "crs", "crs_wkt"), HasSubstr("WGS 84 / NSIDC EASE-Grid 2.0 North"));
  EXPECT_EQ(text(reader, "x", "standard_name"), "projection_x_coordinate");
  EXPECT_EQ(text(reader, "y", "units"), "m");
  const std::size_t cells = options.grid.size();
  std::vector<double> lon(cells), lat(cells);
  grid_positions(options.grid, 0, lon, lat);
  const std::vector<double> file_lon = read(folder / "map.nc", "longitude"), file_lat = read(folder / "map.nc", "latitude");
  ASSERT_EQ(file_lon.size(), cells);
  std::size_t nowhere = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    if (std::isnan(lon[i])) {
      EXPECT_TRUE(std::isnan(file_lon[i]) && std::isnan(file_lat[i]));
      ++nowhere;
    } else {
      EXPECT_EQ(file_lon[i], lon[i]);
      EXPECT_EQ(file_lat[i], lat[i]);
    }
  }
  EXPECT_LT(nowhere, cells);
}

TEST(FieldFile, SaysWhatItCovers) {
  const ScratchFolder folder;
  const auto covers = [&](const std::string& grid) {
    write_all(folder / "map.nc", options_on(grid));
    std::array<double, 4> box = {};
    std::size_t i = 0;
    for (const char* name : {"geospatial_lon_min", "geospatial_lat_min", "geospatial_lon_max", "geospatial_lat_max"}) {
      box.at(i++) = file_number(folder / "map.nc", name);
    }
    return box;
  };
  using Box = std::array<double, 4>;
  EXPECT_EQ(covers("bbox:-30,60,20,80:5"), (Box{-30, 60, 20, 80}));
  EXPECT_EQ(covers("bbox:170,60,-170,80:5"), (Box{170, 60, -170, 80})) << "over the date line";
  EXPECT_EQ(covers("bbox:0,-90,360,90:30"), (Box{-180, -90, 180, 90}));
  const Box polar = covers("EPSG:6931:100km:-1000,-1000,1000,1000");
  EXPECT_EQ(polar[3], 90.0) << "the pole is no cell's centre but inside";
  EXPECT_EQ(polar[0], -180.0);
  EXPECT_EQ(polar[2], 180.0);
  const Box chukchi = covers("EPSG:6931:100km:-300,1900,300,2500");  // about the meridian of 180 degrees, at 70 N
  EXPECT_GT(chukchi[0], 170.0);
  EXPECT_LT(chukchi[2], -170.0);
  EXPECT_NEAR(chukchi[1], 68.0, 2.0);
}

TEST(FieldFile, MergesItsOwnAttributesWithTheCallers) {
  const ScratchFolder folder;
  FieldHeader options = options_on("global:30");
  options.time_days = {25567.0, 25568.25};
  options.attributes["title"] = "Mine";
  options.attributes["institution"] = "Ours";
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(reader.text("Conventions"), "CF-1.8, ACDD-1.3");
  EXPECT_EQ(reader.text("title"), "Mine");
  EXPECT_EQ(reader.text("institution"), "Ours");
  EXPECT_EQ(reader.text("date_created"), "2020-01-01T00:00:00Z");
  EXPECT_EQ(reader.text("time_coverage_start"), "2020-01-01T00:00:00Z");  // 25567 days after 1950-01-01
  EXPECT_EQ(reader.text("time_coverage_end"), "2020-01-02T06:00:00Z");
  EXPECT_THAT(reader.text("geospatial_bounds").value_or(""), HasSubstr("POLYGON ((-90 -180"));
}

TEST(FieldFile, LeavesTimesOfNoCalendarAsNumbers) {
  const ScratchFolder folder;
  FieldHeader options = options_on("global:30");
  options.time_days = {0.5};
  options.calendar_time = false;
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(text(reader, "time", "units"), "1");
  EXPECT_EQ(text(reader, "time", "standard_name"), "none");
  EXPECT_FALSE(reader.text("time_coverage_start").has_value());
}

TEST(FieldFile, WritesAPlaneThatIsNoMapOfTheEarth) {
  const ScratchFolder folder;
  FieldHeader options = options_on("global:30");
  options.grid = {"", "", {"x", "mm", 0.5, 1.0, 4}, {"y", "mm", 0.5, 1.0, 3}};
  write_all(folder / "map.nc", options);
  const NcReader reader(folder / "map.nc");
  EXPECT_EQ(text(reader, "x", "units"), "mm");
  EXPECT_EQ(text(reader, "x", "standard_name"), "none");
  EXPECT_FALSE(reader.text("geospatial_bounds").has_value());
}

TEST(FieldFile, IsTheSameToTheLastByteWhenWrittenAgain) {
  const ScratchFolder folder;
  for (const char* name : {"a.nc", "b.nc"}) write_all(folder / name, options_on("EPSG:6931:500km"));
  EXPECT_EQ(read_bytes(folder / "a.nc"), read_bytes(folder / "b.nc"));
}

TEST(FieldFile, LeavesNothingUnlessFinished) {
  const ScratchFolder folder;
  write_bytes(folder / "map.nc", "old");
  {
    FieldFileWriter writer(folder / "map.nc", options_on("global:30"));
    writer.write(0, 0, 0, std::vector<double>(12, 1.0));
  }
  EXPECT_EQ(read_bytes(folder / "map.nc"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

// While it lives, this process may write no file longer than so many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_ = {};
  void (*handler_)(int);
};

TEST(FieldFile, NoticesBeforeTheWorkThatThereIsNoRoom) {
  const ScratchFolder folder;
  std::string message;
  {
    const FileSizeLimit limit(100000);
    try {
      const FieldFileWriter writer(folder / "map.nc", options_on("global:0.25"));
    } catch (const Error& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("map.nc"));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(folder.files(), 0u);
}

TEST(FieldFile, SaysWhyItCannotWriteThere) {
  const ScratchFolder folder;
  try {
    const FieldFileWriter writer(folder / "nowhere/map.nc", options_on("global:30"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nowhere/map.nc: No such file or directory"));
  }
}

std::string refusal(const std::function<void(FieldHeader&)>& change) {
  const ScratchFolder folder;
  FieldHeader options = options_on("global:30");
  change(options);
  try {
    const FieldFileWriter writer(folder / "map.nc", options);
  } catch (const UsageError& error) {
    EXPECT_EQ(folder.files(), 0u);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(FieldFile, RefusesWhatCannotBeAMap) {
  EXPECT_THAT(refusal([](auto& o) { o.layers.clear(); }), HasSubstr("no layer"));
  EXPECT_THAT(refusal([](auto& o) { o.layers[0].info.name = "sea level"; }), HasSubstr("'sea level'"));
  EXPECT_THAT(refusal([](auto& o) { o.layers[0].info.name = "latitude"; }), HasSubstr("'latitude' is used twice"));
  EXPECT_THAT(refusal([](auto& o) { o.layers.push_back(o.layers[0]); }), HasSubstr("'sla' is used twice"));
  EXPECT_THAT(refusal([](auto& o) { o.time_days = {2.0, 1.0}; }), HasSubstr("times must ascend"));
  EXPECT_THAT(refusal([](auto& o) { o.time_days = {std::nan("")}; }), HasSubstr("time 0"));
  EXPECT_THAT(refusal([](auto& o) { o.grid.x.count = 0; }), HasSubstr("longitude"));
  EXPECT_THAT(refusal([](auto& o) { o.layers = {layer_called("a", 2), layer_called("b", 3)}; }), HasSubstr("3 members"));
}

TEST(FieldFile, RefusesBlocksThatAreNotItsOwn) {
  const ScratchFolder folder;
  FieldFileWriter writer(folder / "map.nc", options_on("global:30"));  // 6 rows of 12
  const std::vector<double> row(12), part(7), rows(24);
  EXPECT_THROW(writer.write(1, 0, 0, row), UsageError);
  EXPECT_THROW(writer.write(0, 1, 0, row), UsageError);
  EXPECT_THROW(writer.write(0, 0, 0, part), UsageError);
  EXPECT_THROW(writer.write(0, 0, 5, rows), UsageError);
  EXPECT_THROW(writer.write(0, 0, 0, row, 1), UsageError);
  std::vector<double> infinite(12);
  infinite[3] = std::numeric_limits<double>::infinity();
  try {
    writer.write(0, 0, 4, infinite);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'sla': the value in row 4, column 3 is infinite"));
  }
  writer.write(0, 0, 5, row);
  writer.finish();
  EXPECT_THROW(writer.finish(), UsageError);
}

}  // namespace
}  // namespace drift
