#include "data/csv.h"

#include <optional>

#include "data/condition.h"
#include "target.h"

namespace drift::fuzz {
namespace {

std::optional<CsvReading> read(const InputFile& file, const CsvSizes& sizes) {
  try {
    return read_csv(file.path(), {.threads = 1}, {}, {}, sizes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

const FuzzTarget target("csv", [](std::string_view input) {
  const InputFile input_file(input);
  const auto whole = read(input_file, {.window = 1 << 16});
  const auto pieces = read(input_file, {.window = 1 << 16, .chunk = 24});
  require(whole.has_value() == pieces.has_value(), "a table is read or refused however it is cut");
  if (!whole) return;
  const Observations &a = whole->part.observations, &b = pieces->part.observations;
  require(
      a.value == b.value && a.lon_deg == b.lon_deg && a.lat_deg == b.lat_deg && a.time_days == b.time_days && a.sigma == b.sigma,
      "the cuts do not show in what is read");
});

}  // namespace
}  // namespace drift::fuzz
