#pragma once

#include <gtest/gtest.h>
#include <png.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "drift/field_file.h"

namespace drift {

struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> bytes;  // red, green, blue

  const std::uint8_t* at(std::size_t x, std::size_t y) const { return bytes.data() + 3 * (y * width + x); }
  // Between grey and pure colour: how much more red there is than blue.
  int red(std::size_t x, std::size_t y) const { return static_cast<int>(at(x, y)[0]) - static_cast<int>(at(x, y)[2]); }
};

inline Picture read_picture(const std::filesystem::path& path) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
  image.format = PNG_FORMAT_RGB;
  Picture picture = {image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, picture.bytes.data(), 0, nullptr)) << image.message;
  return picture;
}

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// value(longitude or x, latitude or y), the same for every time plus the time's index.
using FieldOf = std::function<double(double, double)>;

inline FieldHeader map_options(const Grid& grid, bool with_sd) {
  FieldHeader options = {.grid = grid};
  FieldLayer mean = {.info = {.name = "sla", .long_name = "sea level anomaly", .standard_name = "", .unit = "m"}};
  if (with_sd) mean.ancillary = {"sla_uncertainty"};
  options.layers.push_back(mean);
  if (with_sd)
    options.layers.push_back({.info = {.name = "sla_uncertainty", .long_name = "sd", .standard_name = "", .unit = "m"}});
  return options;
}

inline void write_map_file(const std::filesystem::path& path, const FieldHeader& options, const FieldOf& mean,
                           const FieldOf& sd = {}) {
  const Grid& grid = options.grid;
  std::vector<double> lon(grid.x.count), lat(grid.x.count);
  FieldFileWriter writer(path, options);
  std::vector<double> values(grid.x.count);
  const bool plain = grid.crs.empty() && grid.x.unit != "degrees_east";
  for (std::size_t time = 0; time < std::max<std::size_t>(1, options.time_days.size()); ++time) {
    for (std::size_t row = 0; row < grid.y.count; ++row) {
      if (!plain) grid_positions(grid, row * grid.x.count, lon, lat);
      for (std::size_t layer = 0; layer < options.layers.size(); ++layer) {
        for (std::size_t c = 0; c < grid.x.count; ++c) {
          const double x = plain ? grid.x.at(c) : lon[c], y = plain ? grid.y.at(row) : lat[c];
          values[c] = (layer == 0 ? mean : sd)(x, y) + static_cast<double>(time);
        }
        writer.write(layer, time, row, values);
      }
    }
  }
  writer.finish();
}

}  // namespace drift
