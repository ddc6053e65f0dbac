#include <fmt/format.h>
#include <fmt/ranges.h>

#include "drift/error.h"
#include "drift/field_file.h"
#include "drift/field_sink.h"

namespace drift {

SinkMaker netcdf_sink(const std::filesystem::path& path) {
  return [path](const FieldHeader& header) { return std::make_unique<FieldFileWriter>(path, header); };
}

const std::vector<FieldFormat>& field_formats() {
  static const std::vector<FieldFormat> formats = {
      {".nc", "NetCDF", netcdf_sink}, {".tif", "GeoTIFF", geotiff_sink}, {".csv", "table of text", table_sink}};
  return formats;
}

SinkMaker sink_for(const std::filesystem::path& path) {
  std::vector<std::string> known;
  for (const FieldFormat& format : field_formats()) {
    if (path.extension() == format.extension) return format.sink(path);
    known.push_back(fmt::format("{} ({})", format.extension, format.name));
  }
  throw UsageError(fmt::format("{}: a map's name must end in {}", path.string(), fmt::join(known, " or ")));
}

}  // namespace drift
