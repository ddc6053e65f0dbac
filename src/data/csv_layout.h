#pragma once

#include <string>

#include "data/csv_header.h"
#include "data/csv_rows.h"
#include "data/csv_source.h"

namespace drift {

// Passes over a byte-order mark, blank lines and comments, reads the header and consumes it: then the window begins with the
// first row. Throws Error on what is no table, UsageError where the roles cannot be told; `file` is for messages.
CsvLayout read_layout(CsvSource& source, const std::string& file, const Roles& roles, const RowFilter& filter);

// The same for a table of places: only positions and time are sought.
CsvLayout read_points_layout(CsvSource& source, const std::string& file, const Roles& roles);

// Tells whether the times are dates or numbers, and gives numbers without a unit that of dates written so, 20200131, where they
// are: what most of the first are. Nothing is consumed.
void find_kind_of_times(CsvSource& source, CsvLayout& layout);

// The columns' names alone; no roles are sought.
CsvLayout read_names(CsvSource& source);

// Throws Error: a row does not fit into the window.
[[noreturn]] void fail_too_long(const CsvSource& source);

// Throws CsvProblem unless the row that begins at `row` has as many fields as the header.
void check_count(const char* row, std::size_t count, const CsvLayout& layout);

// Calls with_rows(text) for windows of whole rows, from where the source stands to the end of the file.
template <class WithRows>
void for_windows(CsvSource& source, const CsvLayout& layout, WithRows&& with_rows) {
  const CsvRowScanner scanner(layout.separator);
  for (source.fill(); !source.text().empty(); source.fill()) {
    const std::string_view text = source.text();
    const std::string_view rows = source.at_end() ? text : text.substr(0, scanner.whole_rows(text));
    if (rows.empty()) fail_too_long(source);
    with_rows(rows);
    source.consume(rows.size());
  }
}

// Calls with_row(fields, line) for each row of a window that is not blank, the line without its end. CsvProblems become Errors.
template <class WithRow>
void for_rows(const CsvSource& source, const CsvLayout& layout, std::string_view rows, WithRow&& with_row) {
  const CsvRowScanner scanner(layout.separator);
  std::vector<CsvField> fields(layout.names.size() + 1);
  const char* const end = rows.data() + rows.size();
  try {
    for (const char* row = rows.data(); row != end;) {
      const CsvRow found = scanner.scan(row, end, fields);
      if (found.at != nullptr) throw found.problem();
      if (found.count > 0) {
        check_count(row, found.count, layout);
        std::string_view line(row, static_cast<std::size_t>(found.next - row));
        while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
        with_row(fields, line);
      }
      row = found.next;
    }
  } catch (const CsvProblem& problem) {
    source.fail(problem.at, problem.message);
  }
}

}  // namespace drift
