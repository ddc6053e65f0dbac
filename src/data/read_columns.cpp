#include "drift/read_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/csv_field.h"
#include "data/csv_layout.h"
#include "data/csv_rows.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr std::size_t kWindow = std::size_t{8} << 20;  // bytes

std::vector<std::size_t> places_of(const std::vector<std::string>& names, const CsvLayout& layout,
                                   const std::filesystem::path& path) {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = std::find(layout.names.begin(), layout.names.end(), name);
    if (found == layout.names.end()) {
      const std::vector<std::string_view> known(layout.names.begin(), layout.names.end());
      throw UsageError(fmt::format("{}: no column \"{}\"{}", path.string(), name, did_you_mean(name, known)));
    }
    places.push_back(static_cast<std::size_t>(found - layout.names.begin()));
  }
  return places;
}

// False where one of the numbers is missing.
bool read_row(const std::vector<CsvField>& fields, const std::vector<std::size_t>& places, std::vector<double>& numbers) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const CsvField& field = fields[places[i]];
    const CsvParsed parsed = parse_number(field.text, numbers[i]);
    if (parsed == CsvParsed::missing) return false;
    if (parsed != CsvParsed::good)
      throw CsvProblem{field.text.data(), fmt::format("\"{}\" is not a number", excerpt(field.text))};
  }
  return true;
}

}  // namespace

Columns read_columns(const std::filesystem::path& path, const std::vector<std::string>& names) {
  CsvSource source(path, kWindow);
  const CsvLayout layout = read_names(source);
  const std::vector<std::size_t> places = places_of(names, layout, path);
  std::vector<double> numbers(names.size());
  Columns columns;
  columns.values.resize(names.size());
  for_windows(source, layout, [&](std::string_view rows) {
    for_rows(source, layout, rows, [&](const std::vector<CsvField>& fields, std::string_view) {
      if (!read_row(fields, places, numbers)) {
        ++columns.missing;
        return;
      }
      for (std::size_t i = 0; i < numbers.size(); ++i) columns.values[i].push_back(numbers[i]);
    });
  });
  return columns;
}

}  // namespace drift
