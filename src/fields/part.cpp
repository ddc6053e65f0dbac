#include "fields/part.h"

#include <cmath>

namespace drift {

std::vector<Part> parts_of(const FieldModel& model) {
  std::vector<Part> parts;
  for (const auto part_of : {networks_part, process_part, method_part}) {
    if (auto part = part_of(model)) parts.push_back(std::move(*part));
  }
  return parts;
}

void read_parts(const SafetensorsFile& file, FieldModel& model) {
  for (const auto read : {read_networks, read_process, read_method}) read(file, model);
}

Part base_of(const FieldModel& model) {
  std::vector<Part> parts = parts_of(model);
  return parts.empty() ? Part{.has_spread = false} : std::move(parts.back());
}

bool FieldModel::has_spread() const { return base_of(*this).has_spread; }

std::vector<double> along_coordinates(const Domain& domain, MatrixView<const float> rows, std::span<const double> slopes) {
  const bool sphere = domain.kind == DomainKind::sphere;
  std::vector<double> along;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const double east = slopes[3 * i], north = slopes[3 * i + 1];
    if (sphere) {
      const float* s = rows.row(i);
      const double lon = std::atan2(static_cast<double>(s[1]), static_cast<double>(s[0]));
      const double sin_lat = static_cast<double>(s[2]),
                   cos_lat = std::hypot(static_cast<double>(s[0]), static_cast<double>(s[1]));
      along.insert(along.end(), {-std::sin(lon) * east - sin_lat * std::cos(lon) * north,
                                 std::cos(lon) * east - sin_lat * std::sin(lon) * north, cos_lat * north});
    } else {
      along.insert(along.end(), {east, north});
    }
    if (along.size() < (i + 1) * rows.cols) along.push_back(slopes[3 * i + 2]);
  }
  return along;
}

}  // namespace drift
