#include "data/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/csv_field.h"
#include "data/csv_rows.h"

namespace drift {
namespace {

// Passes over a byte-order mark, blank lines and comments; then the window begins with the header.
void skip_to_header(CsvSource& source) {
  source.fill();
  if (source.text().empty()) source.fail("is empty");
  if (source.text().starts_with("\xEF\xBB\xBF")) source.consume(3);
  bool in_comment = false;  // between /* and */, as PANGAEA's files begin
  for (;;) {
    if (source.text().find('\n') == std::string_view::npos) source.fill();
    const std::string_view text = source.text();
    const std::size_t line_end = text.find('\n');
    if (text.empty()) source.fail("has no header: there is nothing in it but blank lines and comments");
    if (line_end == std::string_view::npos) fail_too_long(source);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first < line_end && text.substr(first).starts_with("/*")) in_comment = true;
    if (first < line_end && text[first] != '#' && !in_comment) return;
    if (text.substr(0, line_end).find("*/") != std::string_view::npos) in_comment = false;
    source.consume(line_end + 1);
  }
}

// The header's row; what follows a quote that is left open belongs to it.
std::string_view header_row(CsvSource& source) {
  skip_to_header(source);
  if (first_row(source.text()) == 0) source.fill();
  const std::size_t length = first_row(source.text());
  if (length == 0 && !source.at_end()) fail_too_long(source);
  const std::string_view header = length == 0 ? source.text() : source.text().substr(0, length);
  if (header.find('\0') != std::string_view::npos) {
    source.fail("is not a table of text: its first line has zero bytes in it; save it as UTF-8");
  }
  return header;
}

// Calls with_row(fields) for the first rows that have as many fields as the header, as far as it returns true.
template <class WithRow>
void for_first_rows(CsvSource& source, const CsvLayout& layout, WithRow&& with_row) {
  source.fill();
  const CsvRowScanner scanner(layout.separator);
  const std::string_view rows = source.text().substr(0, source.text().rfind('\n') + 1);
  std::vector<CsvField> fields(layout.names.size());
  const char* const end = rows.data() + rows.size();
  for (const char* row = rows.data(); row != end;) {
    const CsvRow found = scanner.scan(row, end, fields);
    if (found.next == nullptr) return;  // the rows' own reader tells
    if (found.at == nullptr && found.count == fields.size() && !with_row(fields)) return;
    row = found.next;
  }
}

// The first field of each column that is not missing.
std::vector<std::string> first_fields(CsvSource& source, const CsvLayout& layout) {
  std::vector<std::string> first(layout.names.size());
  std::size_t looked_at = 0;
  for_first_rows(source, layout, [&](const std::vector<CsvField>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (first[i].empty() && !is_missing(fields[i].text)) first[i] = fields[i].text;
    }
    constexpr std::size_t kEnough = 100;
    return ++looked_at < kEnough;
  });
  return first;
}

}  // namespace

CsvLayout read_names(CsvSource& source) {
  const std::string_view header = header_row(source);
  CsvLayout layout;
  layout.separator = detect_separator(header);
  std::vector<CsvField> fields;
  const CsvRowScanner scanner(layout.separator);
  const char* const end = header.data() + header.size();
  const CsvRow row = scanner.scan(header.data(), end, fields);
  if (row.at != nullptr) source.fail(row.at, row.fault);
  fields.resize(row.count);
  scanner.scan(header.data(), end, fields);
  double ignored = 0.0;
  const auto is_number = [&](const CsvField& field) { return parse_number(field.text, ignored) == CsvParsed::good; };
  if (std::all_of(fields.begin(), fields.end(), is_number)) {
    source.fail(header.data(), "no header: this line is all numbers; put one with the columns' names before it, without #");
  }
  for (const CsvField& field : fields) layout.names.push_back(field.unescaped());
  source.consume(header.size());
  return layout;
}

void fail_too_long(const CsvSource& source) {
  source.fail(source.text().data(),
              fmt::format("a row of more than {} bytes begins here; is a quote left open?", source.window()));
}

void check_count(const char* row, std::size_t count, const CsvLayout& layout) {
  if (count == layout.names.size()) return;
  throw CsvProblem{row, fmt::format("{} fields, but the header has {}", count, layout.names.size())};
}

CsvLayout read_layout(CsvSource& source, const std::string& file, const Roles& roles, const RowFilter& filter) {
  CsvLayout layout = read_names(source);
  layout.first_row = first_fields(source, layout);
  assign_roles(file, roles, layout);
  assign_filter(file, filter, layout);
  return layout;
}

CsvLayout read_points_layout(CsvSource& source, const std::string& file, const Roles& roles) {
  CsvLayout layout = read_names(source);
  assign_positions(file, roles, layout);
  find_kind_of_times(source, layout);
  return layout;
}

void find_kind_of_times(CsvSource& source, CsvLayout& layout) {
  if (!layout.has(CsvRole::time)) return;
  layout.dates = !layout.date_columns.empty();
  if (layout.dates) return;
  std::size_t dates = 0, numbers = 0, written = 0;
  for_first_rows(source, layout, [&](const std::vector<CsvField>& fields) {
    const std::string_view time = fields[layout.column_of(CsvRole::time)].text;
    double number = 0.0;
    if (looks_like_date(time)) {
      ++dates;
    } else if (parse_number(time, number) == CsvParsed::good) {
      ++numbers;
      written += static_cast<std::size_t>(is_written_date(time));
    }
    constexpr std::size_t kEnough = 1000;
    return dates + numbers < kEnough;
  });
  layout.dates = dates > numbers;
  if (!layout.dates && !layout.time_units && numbers > 0 && 2 * written >= numbers) layout.time_units = CfTime{.written = true};
}

}  // namespace drift
