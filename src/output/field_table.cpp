// A row of the table needs every layer of its point, and layers come one after the other: a block is kept until its last layer.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/atomic_file.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/field_sink.h"

namespace drift {
namespace {

class TableSink : public FieldSink {
 public:
  TableSink(const std::filesystem::path& path, FieldHeader header) : header_(std::move(header)), file_(path) {
    const bool earth = header_.grid.x.unit == "degrees_east" || !header_.grid.crs.empty();
    std::vector<std::string> names = earth ? std::vector<std::string>{"lon", "lat"} : std::vector<std::string>{"x", "y"};
    if (!header_.time_days.empty()) names.emplace_back("time");
    for (const FieldLayer& layer : header_.layers) {
      if (layer.members == 0) names.push_back(layer.info.name);
      for (std::size_t member = 0; member < layer.members; ++member)
        names.push_back(fmt::format("{}_{}", layer.info.name, member + 1));
      columns_ += std::max<std::size_t>(1, layer.members);
      digits_.resize(columns_, layer.digits);
    }
    write_text(fmt::format("{}\n", fmt::join(names, ",")));
  }

  void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
             std::size_t member) override {
    if (layer >= header_.layers.size() || time >= header_.times() || values.size() % header_.grid.x.count != 0)
      throw UsageError(fmt::format("table: layer {}, time {} and {} values do not fit the field", layer, time, values.size()));
    if (!block_.empty() && (block_.front().size() != values.size() || time != time_ || first_row != first_row_))
      throw UsageError("table: a block must have all its layers before the next one begins");
    time_ = time, first_row_ = first_row;
    block_.emplace_back(values.begin(), values.end());
    const bool is_last = layer + 1 == header_.layers.size() && member + 1 >= header_.layers[layer].members;
    if (is_last) write_block();
  }

  void finish(const Control&) override { file_.commit(); }

 private:
  void write_block() {
    if (block_.size() != columns_)
      throw UsageError(fmt::format("table: a block has {} columns of numbers, not {}", block_.size(), columns_));
    const std::size_t count = block_.front().size();
    std::vector<double> lon(count), lat(count);
    grid_positions(header_.grid, first_row_ * header_.grid.x.count, lon, lat);
    std::string when;
    if (!header_.time_days.empty()) {
      const double days = header_.time_days[time_];
      when = header_.calendar_time ? fmt::format(",{}", iso_time(days)) : fmt::format(",{:.10g}", days);
    }
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isnan(block_.front()[i])) continue;
      fmt::format_to(std::back_inserter(text), "{:.10g},{:.10g}{}", lon[i], lat[i], when);
      for (std::size_t column = 0; column < columns_; ++column) {
        text += ',';
        const double number = block_[column][i];
        if (!std::isnan(number)) fmt::format_to(std::back_inserter(text), "{:.{}g}", number, digits_[column]);
      }
      text += '\n';
    }
    write_text(text);
    block_.clear();
  }

  void write_text(const std::string& text) { file_.write(std::as_bytes(std::span(text))); }

  FieldHeader header_;
  AtomicFile file_;
  std::size_t columns_ = 0;                 // of numbers
  std::vector<int> digits_;                 // of each column
  std::size_t time_ = 0, first_row_ = 0;    // of the block
  std::vector<std::vector<double>> block_;  // the layers (and members) so far
};

}  // namespace

SinkMaker table_sink(const std::filesystem::path& path) {
  return [path](const FieldHeader& header) { return std::make_unique<TableSink>(path, header); };
}

}  // namespace drift
