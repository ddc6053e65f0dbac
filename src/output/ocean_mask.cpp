#include "drift/ocean_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/blocks.h"
#include "core/longitude.h"
#include "drift/error.h"
#include "output/gmt.h"

namespace drift {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;  // positions a call of GMT: 24 MiB

// As GMT reads and writes them: three doubles, the last of which it hands through.
struct Row {
  double lon_deg, lat_deg, index;
};

// GMT keeps the coastlines of one bin (5 by 5 degrees, or 2, or 1 in the finer resolutions) at a time. Positions in the order of
// bins take 4 microseconds each, in random order 70.
int bin_of(const Row& row) {
  const int lon = static_cast<int>(std::floor(row.lon_deg)) + 180, lat = static_cast<int>(std::floor(row.lat_deg)) + 90;
  return ((lat / 5 * 73 + lon / 5) * 5 + lat % 5) * 5 + lon % 5;
}

void mark_ocean(const GmtSession& gmt, std::vector<Row>& rows, const OceanMaskOptions& options, std::span<char> ocean) {
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return bin_of(a) < bin_of(b); });
  // Kept areas: ocean / land / lake / island in lake / pond on that island.
  const char* keep = options.lakes_are_land ? "-Nk/s/s/s/s" : "-Nk/s/k/s/k";
  const std::string kept = gmt.run({"select", keep, "-Df+", "-bi3d", "-bo3d", "-fg"},
                                   {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row)});
  if (kept.size() % sizeof(Row) != 0) {
    throw Error(fmt::format("GMT's answer for the ocean mask is {} bytes, not whole rows of {}", kept.size(), sizeof(Row)));
  }
  for (std::size_t at = 0; at < kept.size(); at += sizeof(Row)) {
    Row row = {};
    std::memcpy(&row, kept.data() + at, sizeof(Row));
    ocean[static_cast<std::size_t>(row.index)] = 1;
  }
}

}  // namespace

std::vector<char> is_ocean(std::span<const double> lon_deg, std::span<const double> lat_deg, const OceanMaskOptions& options,
                           const Control& control) {
  if (lon_deg.size() != lat_deg.size()) {
    throw UsageError(fmt::format("ocean mask: {} longitudes but {} latitudes", lon_deg.size(), lat_deg.size()));
  }
  std::vector<char> ocean(lon_deg.size(), 0);
  if (ocean.empty()) return ocean;
  const GmtSession gmt("the ocean mask is made", control);
  std::vector<Row> rows;
  for_blocks(ocean.size(), kBlock, [&](std::size_t first, std::size_t count) {
    rows.clear();
    for (std::size_t i = first; i < first + count; ++i) {
      if (!std::isfinite(lon_deg[i]) || !(std::abs(lat_deg[i]) <= 90.0)) continue;
      rows.push_back({wrapped_longitude(lon_deg[i]), lat_deg[i], static_cast<double>(i)});
    }
    mark_ocean(gmt, rows, options, ocean);
  });
  return ocean;
}

}  // namespace drift
