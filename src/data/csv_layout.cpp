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

}  // namespace

CsvLayout read_names(CsvSource& source) {
  const std::string_view header = header_row(source);
  CsvLayout layout;
  layout.separator = detect_separator(header);
  std::vector<CsvField> fields;
  try {
    const CsvRowScanner scanner(layout.separator);
    std::size_t count = 0;
    scanner.scan(header.data(), header.data() + header.size(), fields, count);
    fields.resize(count);
    scanner.scan(header.data(), header.data() + header.size(), fields, count);
  } catch (const CsvProblem& problem) {
    source.fail(problem.at, problem.message);
  }
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
  assign_roles(file, roles, layout);
  assign_filter(file, filter, layout);
  return layout;
}

CsvLayout read_points_layout(CsvSource& source, const std::string& file, const Roles& roles) {
  CsvLayout layout = read_names(source);
  assign_positions(file, roles, layout);
  find_written_dates(source, layout);
  return layout;
}

void find_written_dates(CsvSource& source, CsvLayout& layout) {
  if (!layout.has(CsvRole::time) || !layout.date_columns.empty()) return;
  source.fill();
  constexpr std::size_t kLook = std::size_t{64} << 10;  // bytes
  const std::string_view text = source.text().substr(0, kLook);
  const std::string_view rows = text.substr(0, whole_rows(text));
  const CsvRowScanner scanner(layout.separator);
  std::vector<CsvField> fields(layout.names.size());
  const char* const end = rows.data() + rows.size();
  try {
    for (const char* row = rows.data(); row != end;) {
      std::size_t count = 0;
      row = scanner.scan(row, end, fields, count);
      if (count != fields.size()) continue;
      const std::string_view time = fields[layout.column_of(CsvRole::time)].text;
      double number = 0.0;
      const CsvParsed parsed = parse_number(time, number);
      if (parsed == CsvParsed::missing) continue;
      constexpr double kFrom = -18262.0, kTo = 55152.0;  // 1900 to 2100, in days since 1950
      const double days = parsed == CsvParsed::good ? days_of_written_date(number) : std::nan("");
      const bool whole = time.find_first_not_of("0123456789") == std::string_view::npos;
      if (whole && days >= kFrom && days <= kTo) layout.time_units = CfTime{.written = true};
      return;
    }
  } catch (const CsvProblem&) {  // the rows' own reader tells
  }
}

}  // namespace drift
