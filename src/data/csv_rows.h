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

// Takes rows apart. A field that begins with a quote ends at the next single one and may hold separators and line ends; a quote
// within any other field is an error (RFC 4180), so that the quotes before a line's end, odd or even in number, tell whether
// it ends a row. Lines end with \n or \r\n.
class CsvRowScanner {
 public:
  // separator ' ': runs of blanks and tabs.
  explicit CsvRowScanner(char separator);

  // Puts the fields of the row that begins at `row` into `fields`, as many as it has room for, their number into `count` (0 for a
  // blank line), and returns where the next row begins. [row, end) must end with \n. Throws CsvProblem.
  const char* scan(const char* row, const char* end, std::vector<CsvField>& fields, std::size_t& count) const;

 private:
  const char* skip_blanks(const char* at) const;
  const char* scan_quoted(const char* at, const char* end, CsvField& field) const;
  const char* scan_plain(const char* at, CsvField& field) const;

  char separator_;
  std::array<bool, 256> ends_field_ = {};
};

// Length of the first row of `text` with its line end, 0 where it is not whole.
std::size_t first_row(std::string_view text);

// Length of the part of `text` that is whole rows, where `text` begins with a row.
std::size_t whole_rows(std::string_view text);

// Cuts whole rows into pieces that are whole rows again, of `bytes` or somewhat more.
std::vector<std::string_view> cut_at_rows(std::string_view rows, std::size_t bytes);

}  // namespace drift
