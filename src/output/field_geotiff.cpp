// Maps as cloud-optimised GeoTIFF (OGC 21-026), for GIS programs: tiles, overviews and the CRS in one file, a band for each layer
// (each of its members) at each time. The numbers go to a raw file as they come; GDAL, which then turns it into the GeoTIFF,
// reads it through a description of it, a virtual raster (https://gdal.org/drivers/raster/vrt.html).

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/whole_file.h"
#include "drift/error.h"
#include "drift/field_sink.h"
#include "geo/grid_mapping.h"
#include "netcdf/acdd.h"

namespace drift {
namespace {

constexpr std::size_t kMostBands = 65535;  // TIFF counts them in 16 bits

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string metadata(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "<Metadata>";
  for (const auto& [key, value] : entries)
    if (!value.empty()) text += fmt::format("<MDI key=\"{}\">{}</MDI>", xml(key), xml(value));
  return text + "</Metadata>\n";
}

// The CRS as GDAL takes it; empty: a plane of none.
std::string crs_text(const Grid& grid) {
  if (grid.crs.empty()) return grid.x.unit == "degrees_east" ? "EPSG:4326" : "";
  const CfAttributes mapping = grid_mapping_of(grid.crs);
  const auto wkt = mapping.find("crs_wkt");
  if (wkt == mapping.end())
    throw UsageError(
        fmt::format("GeoTIFF: '{}' counts in another unit than metres, which maps are in; use a CRS in metres", grid.crs));
  return wkt->second.text;
}

class GeotiffSink : public FieldSink {
 public:
  GeotiffSink(const std::filesystem::path& path, FieldHeader header) : header_(std::move(header)), file_(path) {
    program_ = find_program("gdal_translate");
    if (program_.empty()) throw Error("GeoTIFF is written by GDAL, which is not installed: apt-get install gdal-bin");
    for (const FieldLayer& layer : header_.layers) {
      first_band_.push_back(bands_);
      bands_ += members_of(layer);
      in_double_ = in_double_ || layer.needs_double();
    }
    if (bands_ * header_.times() > kMostBands) {
      throw UsageError(fmt::format("GeoTIFF: {} layers and members at {} times are more than the {} bands that a file may have",
                                   bands_, header_.times(), kMostBands));
    }
    crs_ = crs_text(header_.grid);
    raw_ = FileDescriptor(::open(raw_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!raw_.is_open()) fail_to_write_raw(errno);
  }

  void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
             std::size_t member) override {
    const Grid& grid = header_.grid;
    const bool fits = layer < header_.layers.size() && time < header_.times() && member < members_of(header_.layers[layer]) &&
                      values.size() % grid.x.count == 0 && first_row + values.size() / grid.x.count <= grid.y.count;
    if (!fits)
      throw UsageError(fmt::format("GeoTIFF: layer {}, time {} and {} values do not fit the field", layer, time, values.size()));
    const std::size_t band = time * bands_ + first_band_[layer] + member;
    written_ += values.size();
    for (std::size_t row = 0; row * grid.x.count < values.size(); ++row) {
      const std::size_t from_north = grid.y.count - 1 - first_row - row;  // pictures begin at the top
      put(values.subspan(row * grid.x.count, grid.x.count), (band * grid.y.count + from_north) * grid.x.count * bytes());
    }
  }

  void finish(const Control& control) override {
    if (written_ != bands_ * header_.times() * header_.grid.size()) throw UsageError("GeoTIFF: the field is not complete");
    if (const int error = raw_.close()) fail_to_write_raw(error);
    write_whole_file(folder_.path() / "field.vrt", description());
    run_gdal(program_,
             {"-q", "-of", "COG", "-co", "COMPRESS=DEFLATE", "-co", "PREDICTOR=YES", "-co", "BIGTIFF=IF_SAFER", "-co",
              "OVERVIEW_RESAMPLING=AVERAGE", "field.vrt", "field.tif"},
             folder_.path(), control.stop);
    copy_result();
    control.check_stop();
    file_.commit();
  }

 private:
  static std::size_t members_of(const FieldLayer& layer) { return std::max<std::size_t>(1, layer.members); }
  std::size_t bytes() const { return in_double_ ? sizeof(double) : sizeof(float); }

  [[noreturn]] void fail_to_write_raw(int error) const {
    throw Error(fmt::format("cannot write {}: {}", raw_path_.string(), std::generic_category().message(error)));
  }

  void put(std::span<const double> row, std::size_t place) {
    if (in_double_) return write_at(raw_.get(), raw_path_, std::as_bytes(row), place);
    const std::vector<float> narrow(row.begin(), row.end());
    write_at(raw_.get(), raw_path_, std::as_bytes(std::span(narrow)), place);
  }

  std::string time_text(std::size_t time) const {
    if (header_.time_days.empty()) return {};
    return header_.calendar_time ? acdd_time(header_.time_days[time]) : fmt::format("{:.10g}", header_.time_days[time]);
  }

  std::string band_text(std::size_t layer, std::size_t time, std::size_t member) const {
    const FieldLayer& here = header_.layers[layer];
    const std::size_t band = time * bands_ + first_band_[layer] + member, columns = header_.grid.x.count;
    const std::string when = time_text(time), which = here.members > 0 ? fmt::format("{}", member + 1) : "";
    std::string name = here.info.name;
    for (const std::string& part : {which, when}) name += part.empty() ? "" : " " + part;
    return fmt::format(
        "<VRTRasterBand dataType=\"{}\" band=\"{}\" "
        "subClass=\"VRTRawRasterBand\">\n<Description>{}</Description><UnitType>{}</UnitType>"
        "<NoDataValue>nan</NoDataValue>\n{}<SourceFilename "
        "relativeToVRT=\"1\">field.raw</SourceFilename><ImageOffset>{}</ImageOffset>"
        "<PixelOffset>{}</PixelOffset><LineOffset>{}</LineOffset><ByteOrder>{}</ByteOrder>\n</VRTRasterBand>\n",
        in_double_ ? "Float64" : "Float32", band + 1, xml(name), xml(here.info.unit),
        metadata({{"name", here.info.name},
                  {"long_name", here.info.long_name},
                  {"standard_name", here.info.standard_name},
                  {"units", here.info.unit},
                  {"time", when},
                  {"member", which},
                  {"comment", here.comment}}),
        band * header_.grid.size() * bytes(), bytes(), columns * bytes(),
        std::endian::native == std::endian::little ? "LSB" : "MSB");
  }

  std::string description() const {
    const GridAxis &x = header_.grid.x, &y = header_.grid.y;
    std::string text = fmt::format("<VRTDataset rasterXSize=\"{}\" rasterYSize=\"{}\">\n", x.count, y.count);
    if (!crs_.empty()) text += fmt::format("<SRS>{}</SRS>\n", xml(crs_));
    text += fmt::format("<GeoTransform>{:.17g}, {:.17g}, 0, {:.17g}, 0, {:.17g}</GeoTransform>\n", x.first - 0.5 * x.step, x.step,
                        y.at(y.count - 1) + 0.5 * y.step, -y.step);
    text += metadata({header_.attributes.begin(), header_.attributes.end()});
    for (std::size_t time = 0; time < header_.times(); ++time) {
      for (std::size_t layer = 0; layer < header_.layers.size(); ++layer) {
        for (std::size_t member = 0; member < members_of(header_.layers[layer]); ++member) text += band_text(layer, time, member);
      }
    }
    return text + "</VRTDataset>\n";
  }

  void copy_result() {
    const std::filesystem::path made = folder_.path() / "field.tif";
    std::size_t bytes = 0;
    read_blocks(made, [&](std::span<const std::byte> block) {
      file_.write(block);
      bytes += block.size();
    });
    if (bytes == 0) throw Error(fmt::format("GDAL made an empty file and gave no reason: {}", made.string()));
  }

  FieldHeader header_;
  AtomicFile file_;
  TemporaryFolder folder_{"GDAL"};
  std::filesystem::path raw_path_ = folder_.path() / "field.raw";
  std::string program_, crs_;
  std::vector<std::size_t> first_band_;  // of each layer, at the first time
  std::size_t bands_ = 0;                // at one time
  std::size_t written_ = 0;              // numbers
  bool in_double_ = false;               // a GeoTIFF's bands have one type
  FileDescriptor raw_;
};

}  // namespace

SinkMaker geotiff_sink(const std::filesystem::path& path) {
  return [path](const FieldHeader& header) { return std::make_unique<GeotiffSink>(path, header); };
}

}  // namespace drift
