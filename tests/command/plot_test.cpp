#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "drift/field_file.h"
#include "drift/grid.h"
#include "run_command.h"

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

struct Pixels {
  unsigned width = 0, height = 0;
  std::vector<unsigned char> bytes;  // red, green, blue

  // Mean position, as shares of the picture's width and height, of pixels that are much redder than blue.
  std::pair<double, double> red_centre() const {
    double x = 0.0, y = 0.0, count = 0.0;
    for (unsigned r = 0; r < height * 85 / 100; ++r) {  // the colour bar is below
      for (unsigned c = 0; c < width; ++c) {
        const unsigned char* p = bytes.data() + 3 * (static_cast<std::size_t>(r) * width + c);
        if (p[0] > p[2] + 90) x += c, y += r, count += 1.0;
      }
    }
    return {x / count / width, y / count / height};
  }
};

Pixels read_png(const std::filesystem::path& path) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
  image.format = PNG_FORMAT_RGB;
  Pixels pixels = {image.width, image.height, std::vector<unsigned char>(PNG_IMAGE_SIZE(image))};
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.bytes.data(), 0, nullptr)) << image.message;
  return pixels;
}

class PlotCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("gmt --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
    write_polar_map();
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

  // North of 62 degrees: -0.5, but 0.5 around 90 E, 75 N, which is on the right; an sd of 0.1; two days.
  void write_polar_map() const {
    drift::FieldHeader options = {.grid = drift::parse_grid("EPSG:6931:100km")};
    options.time_days = {25627.0, 25628.0};
    options.layers.push_back({.info = {.name = "sla", .long_name = "Sea level anomaly", .standard_name = "", .unit = "m"},
                              .ancillary = {"sla_uncertainty"}});
    options.layers.push_back(
        {.info = {.name = "sla_uncertainty", .long_name = "Standard deviation", .standard_name = "", .unit = "m"}});
    std::vector<double> lon(options.grid.size()), lat(options.grid.size());
    drift::grid_positions(options.grid, 0, lon, lat);
    std::vector<double> mean(lon.size(), kNoValue), sd(lon.size(), kNoValue);
    for (std::size_t i = 0; i < lon.size(); ++i) {
      if (!(lat[i] > 62.0)) continue;
      mean[i] = std::abs(lon[i] - 90.0) < 15.0 && std::abs(lat[i] - 75.0) < 4.0 ? 0.5 : -0.5;
      sd[i] = 0.1;
    }
    drift::FieldFileWriter writer(file("map.nc"), options);
    for (std::size_t time = 0; time < 2; ++time) writer.write(0, time, 0, mean), writer.write(1, time, 0, sd);
    writer.finish();
  }

  void expect_failure(int status, const std::string& arguments, const std::string& message) const {
    const FinishedRun run = run_command("plot " + arguments);
    EXPECT_EQ(run.status, status) << arguments << ": " << run.err;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_TRUE(run.err.starts_with("drift: ")) << run.err;
    EXPECT_TRUE(contains(run.err, message)) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }

  TemporaryFolder folder_;
};

TEST_F(PlotCommand, WritesAPictureBesideTheMap) {
  const FinishedRun run = run_command("plot " + file("map.nc") + " --dpi 80");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "map.png: sla at 2020-03-01, azimuthal equal-area about the pole")) << run.out;
  const Pixels pixels = read_png(file("map.png"));
  EXPECT_NEAR(pixels.width, 17.0 / 2.54 * 80.0, 60.0);
  EXPECT_GT(pixels.width, pixels.height);
}

TEST_F(PlotCommand, PutsPlacesWhereTheyAre) {
  const FinishedRun run = run_command("plot " + file("map.nc") + " --panels mean --colours polar --limits -1:1 --dpi 80 --quiet");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
  const auto [x, y] = read_png(file("map.png")).red_centre();
  EXPECT_NEAR(x, 0.5 + 0.5 * 0.5, 0.05) << "90 E is on the right";
  EXPECT_NEAR(y, 0.47, 0.05);
}

TEST_F(PlotCommand, WritesMeanAndSdSeparatelyWhenAsked) {
  const FinishedRun run =
      run_command("plot " + file("map.nc") + " --separate --time 1 --dpi 60 --json --out " + file("figure.png"));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["pictures"].size(), 2u);
  EXPECT_EQ(json["pictures"][0]["picture"], file("figure.png"));
  EXPECT_EQ(json["pictures"][0]["time"], "2020-03-02");
  EXPECT_EQ(json["pictures"][1]["picture"], file("figure_sd.png"));
  EXPECT_TRUE(exists("figure.png") && exists("figure_sd.png"));
}

TEST_F(PlotCommand, DrawsSeveralMapsSideBySide) {
  const std::string maps = "plot " + file("map.nc") + " " + file("map.nc");
  const auto panels = [&](const std::string& more) {
    return run_command(maps + " --out " + file("two.png") + " --dpi 60 " + more);
  };
  EXPECT_EQ(panels("--name one --name other --scale-of-first").status, 0);
  const Pixels two = read_png(file("two.png"));
  EXPECT_GT(two.width, 1.3 * two.height);
  EXPECT_EQ(panels("--panels sd").status, 0);
  EXPECT_EQ(panels("--name one").status, 2) << "two maps";
  EXPECT_EQ(panels("--separate").status, 2);
  EXPECT_EQ(run_command(maps).status, 2) << "no --out";
  EXPECT_EQ(run_command("plot " + file("map.nc") + " --scale-of-first").status, 2) << "one map";
}

TEST_F(PlotCommand, DrawsObservationsOverTheMap) {
  std::ofstream csv(file("points.csv"));
  csv << "longitude,latitude,time,height\n";
  for (int i = 0; i < 600; ++i) csv << -90.0 + 0.05 * i << "," << 75.0 << ",2020-03-01T00:00:00Z,0.9\n";
  csv << "0,75,2020-03-09T00:00:00Z,0.9\n";
  csv.close();
  const FinishedRun run =
      run_command("plot " + file("map.nc") + " --dpi 60 --json --observations " + file("points.csv") + " --value height");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["pictures"][0]["observations_drawn"], 600) << "the last is eight days off";
  const FinishedRun none =
      run_command("plot " + file("map.nc") + " --dpi 40 --panels mean --time 1 --observations-days 0.5 --observations " +
                  file("points.csv") + " --value height");
  EXPECT_TRUE(contains(none.out, "no observations: none within 0.5 days (see --observations-days)")) << none.out << none.err;
}

TEST_F(PlotCommand, DrawsSeveralTimesAndDifferencesAndAnimations) {
  const std::string small = " --width 5 --dpi 40 --json";
  const FinishedRun panels = run_command("plot " + file("map.nc") + " --time all --out " + file("panels.png") + small);
  ASSERT_EQ(panels.status, 0) << panels.err;
  EXPECT_EQ(nlohmann::json::parse(panels.out)["pictures"][0]["times"], 2);
  const FinishedRun change =
      run_command("plot " + file("map.nc") + " --minus " + file("map.nc") + " --time 1 --out " + file("d.png") + small);
  ASSERT_EQ(change.status, 0) << change.err;
  EXPECT_FALSE(nlohmann::json::parse(change.out)["pictures"][0].contains("sd_variable"));
  const FinishedRun moving = run_command("plot " + file("map.nc") + " --panels mean --width 5 --dpi 40 --out " + file("map.gif"));
  ASSERT_EQ(moving.status, 0) << moving.err;
  EXPECT_TRUE(contains(moving.out, "map.gif: sla at 2020-03-01 and 1 other time")) << moving.out;
  EXPECT_TRUE(exists("map.gif"));
}

// Ghostscript and GMT alone on the PATH.
TEST_F(PlotCommand, SaysWhatToInstallForSvgAndMp4) {
  std::filesystem::create_directory(file("bin"));
  for (const char* name : {"gmt", "gs"}) {
    ASSERT_EQ(run_shell(folder_.path(), fmt::format("ln -s $(command -v {}) bin/{}", name, name)).status, 0);
  }
  const auto message = [&](const std::string& picture) {
    const FinishedRun run = run_shell(folder_.path(), "D=$(command -v drift); PATH=$PWD/bin $D plot map.nc --out " + picture);
    EXPECT_EQ(run.status, 1) << picture;
    EXPECT_FALSE(exists(picture));
    return run.err;
  };
  EXPECT_TRUE(contains(message("map.svg"), "pdftocairo, which is not installed: apt-get install poppler-utils"));
  EXPECT_TRUE(contains(message("map.mp4"), "ffmpeg, which is not installed: apt-get install ffmpeg"));
}

TEST_F(PlotCommand, SaysWhatIsWrong) {
  std::ofstream(file("text.nc")) << "not a map";
  expect_failure(1, file("text.nc"), "is not a NetCDF file");
  expect_failure(1, file("missing.nc"), "no such file");
  expect_failure(1, file("map.nc") + " --out " + file("none/map.png"), "does not exist");
  expect_failure(2, file("map.nc") + " --out " + file("map.jpeg"), "a picture is .png, .pdf or .svg, not '.jpeg'");
  expect_failure(2, file("map.nc") + " --variable slaa", "no variable 'slaa' on a grid; did you mean 'sla'?");
  expect_failure(2, file("map.nc") + " --limits 1", "--limits: '1' is not LOW:HIGH");
  expect_failure(2, file("map.nc") + " --limits 1:-1", "--limits");
  expect_failure(2, file("map.nc") + " --panels all", "--panels");
  expect_failure(2, file("map.nc") + " --dpi 0", "--dpi");
  expect_failure(2, file("map.nc") + " --value height", "--observations");
  expect_failure(2, "", "map");
  EXPECT_FALSE(exists("map.png"));
}

TEST_F(PlotCommand, SaysWhatToInstallWhereGmtIsMissing) {
  const FinishedRun run = run_shell(folder_.path(), "PATH=/nonexistent drift plot map.nc");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "drift: drift plot draws with GMT, which is not installed: apt-get install gmt gmt-gshhg-low ghostscript\n");
  EXPECT_FALSE(exists("map.png"));
}

}  // namespace
