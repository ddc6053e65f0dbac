#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "drift/error.h"
#include "drift/field_sink.h"

namespace drift {
namespace {

class MemorySink : public FieldSink {
 public:
  MemorySink(Field& field, const FieldHeader& header) : field_(field) {
    field_ = {.header = header, .values = {}};
    for (const FieldLayer& layer : header.layers) {
      field_.values.emplace_back(header.times() * members(layer) * header.grid.size(), std::numeric_limits<double>::quiet_NaN());
    }
  }

  void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
             std::size_t member) override {
    const FieldHeader& header = field_.header;
    const std::size_t map = time * members(header.layers.at(layer)) + member;
    const std::size_t first = map * header.grid.size() + first_row * header.grid.x.count;
    std::vector<double>& all = field_.values[layer];
    if (first + values.size() > all.size())
      throw UsageError(fmt::format("field in memory: {} values do not fit from row {} on", values.size(), first_row));
    std::copy(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
  }
  void finish(const Control&) override {}

 private:
  static std::size_t members(const FieldLayer& layer) { return std::max<std::size_t>(1, layer.members); }

  Field& field_;
};

}  // namespace

const std::vector<double>& Field::layer(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.layers.size(); ++i) {
    if (header.layers[i].info.name == name) return values[i];
    names.push_back(header.layers[i].info.name);
  }
  throw UsageError(fmt::format("the field has no layer '{}'; it has {}", name, fmt::join(names, ", ")));
}

SinkMaker memory_sink(Field& field) {
  return [&field](const FieldHeader& header) { return std::make_unique<MemorySink>(field, header); };
}

}  // namespace drift
