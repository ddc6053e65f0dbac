#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

// What is wrong in a text, and where; the reader makes file and line of it.
struct CsvProblem {
  const char* at = nullptr;
  std::string message;
  std::string kind = {};  // the same for all rows with which this is wrong; empty: the message
};

struct CsvField {
  std::string_view text;  // without the quotes and, unless quoted, without blanks around it
  bool quoted = false;
  bool escaped = false;  // "" in it stands for "

  std::string unescaped() const;
};

// A field that its column cannot hold: "abc" in column "value" is not a number.
CsvProblem field_problem(const CsvField& field, const std::string& column, const std::string& what);

// One row, taken apart.
struct CsvRow {
  const char* next = nullptr;  // where the next row begins; null: a quote that opens at `at` is never closed
  std::size_t count = 0;       // fields; 0: a blank line
  const char* at = nullptr;    // a quote that is out of place; null: none is
  const char* fault = "";      // with it

  CsvProblem problem() const { return {at, fault}; }
};

// Takes rows apart. A field that begins with a quote ends at the next single one and may hold separators and line ends (RFC
// 4180). A quote within any other field, or text behind the closing one, is a fault of its row, which still ends with its line.
// So where rows end is told from the first of them on, each from the end of the one before. Lines end with \n or \r\n.
class CsvRowScanner {
 public:
  // separator ' ': runs of blanks and tabs.
  explicit CsvRowScanner(char separator);

  // Puts the fields of the row that begins at `row` into `fields`, as many as it has room for. [row, end) must end with \n.
  CsvRow scan(const char* row, const char* end, std::vector<CsvField>& fields) const;

  // Length of the part of `text` that is whole rows, where `text` begins with a row.
  std::size_t whole_rows(std::string_view text) const;

  // Cuts rows into pieces that are whole rows again, of `bytes` or somewhat more. A last row that is not whole goes with the
  // last.
  std::vector<std::string_view> cut_at_rows(std::string_view rows, std::size_t bytes) const;

 private:
  const char* skip_blanks(const char* at) const;
  const char* scan_quoted(const char* at, const char* end, CsvField& field, CsvRow& row) const;
  const char* scan_plain(const char* at, CsvField& field, CsvRow& row) const;

  char separator_;
  std::array<bool, 256> ends_field_ = {};
};

// Length of the first row of `text` with its line end, told by its quotes, since the separator is not yet known: they are even in
// number before a line end that ends a row. 0 where it is not whole.
std::size_t first_row(std::string_view text);

}  // namespace drift
