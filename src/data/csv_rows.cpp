#include "data/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/csv_field.h"

namespace drift {
namespace {

bool at_row_end(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }

bool odd_quotes(std::string_view text) {
  const std::size_t first = text.find('"');  // most tables have none, and looking for one is faster than counting
  return first != std::string_view::npos && std::count(text.begin() + first, text.end(), '"') % 2 != 0;
}

// Just behind the first line end at or after `from` that ends a row; npos where there is none. `quoted`: whether `from` lies
// within a quoted field.
std::size_t next_row(std::string_view text, std::size_t from, bool quoted) {
  for (;;) {
    const std::size_t line_end = text.find('\n', from);
    if (line_end == std::string_view::npos) return line_end;
    quoted = quoted != odd_quotes(text.substr(from, line_end - from));
    from = line_end + 1;
    if (!quoted) return from;
  }
}

}  // namespace

std::string CsvField::unescaped() const {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (escaped && text[i] == '"') ++i;
  }
  return plain;
}

CsvProblem field_problem(const CsvField& field, const std::string& column, const std::string& what) {
  const std::string kind = fmt::format("in column \"{}\" {}", excerpt(column), what);
  return {field.text.data(), fmt::format("\"{}\" {}", excerpt(field.text), kind), kind};
}

CsvRowScanner::CsvRowScanner(char separator) : separator_(separator) {
  for (const char c : {separator, '\n', '"'}) ends_field_[static_cast<unsigned char>(c)] = true;
  if (separator == ' ') ends_field_['\t'] = true;
}

const char* CsvRowScanner::skip_blanks(const char* at) const {
  while (*at == ' ' || (*at == '\t' && separator_ != '\t')) ++at;
  return at;
}

const char* CsvRowScanner::scan(const char* row, const char* end, std::vector<CsvField>& fields, std::size_t& count) const {
  const char* at = row;
  for (count = 0;; ++at) {
    at = skip_blanks(at);
    if (at_row_end(at) && (separator_ == ' ' || count == 0)) break;
    CsvField field;
    at = *at == '"' ? scan_quoted(at, end, field) : scan_plain(at, field);
    if (count < fields.size()) fields[count] = field;
    ++count;
    if (at_row_end(at)) break;
  }
  return at + (*at == '\r' ? 2 : 1);
}

const char* CsvRowScanner::scan_quoted(const char* at, const char* end, CsvField& field) const {
  const char* const open = at++;
  field.quoted = true;
  for (;; at += 2) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) throw CsvProblem{open, "the quote that opens here is never closed"};
    if (at[1] != '"') break;  // there is an at[1]: the text ends with \n
    field.escaped = true;
  }
  field.text = {open + 1, at};
  const char* const behind = at + 1;
  at = skip_blanks(behind);
  // Blanks that separate were just skipped, but the caller steps over one separator.
  if (separator_ == ' ' && at != behind && !at_row_end(at)) --at;
  if (*at != separator_ && *at != '\t' && !at_row_end(at)) {
    throw CsvProblem{open, "text follows the closing quote of a field; a quote within a quoted field is written \"\""};
  }
  return at;
}

const char* CsvRowScanner::scan_plain(const char* at, CsvField& field) const {
  const char* const begin = at;
  while (!ends_field_[static_cast<unsigned char>(*at)]) ++at;
  if (*at == '"') {
    throw CsvProblem{at,
                     "a quote within a field that does not begin with one; put the whole field in quotes and double the quote"};
  }
  const char* last = at;
  if (*at == '\n' && last != begin && last[-1] == '\r') at = --last;
  while (last != begin && (last[-1] == ' ' || last[-1] == '\t')) --last;
  field.text = {begin, last};
  return at;
}

std::size_t first_row(std::string_view text) {
  const std::size_t end = next_row(text, 0, false);
  return end == std::string_view::npos ? 0 : end;
}

std::size_t whole_rows(std::string_view text) {
  // Quotes before each line end, from the last line backwards.
  bool quoted = odd_quotes(text);
  std::size_t end = text.size();
  for (;;) {
    const std::size_t line_end = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    if (line_end == std::string_view::npos) return 0;
    quoted = quoted != odd_quotes(text.substr(line_end, end - line_end));
    if (!quoted) return line_end + 1;
    end = line_end;
  }
}

std::vector<std::string_view> cut_at_rows(std::string_view rows, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  while (rows.size() > bytes) {
    const std::size_t end = next_row(rows, bytes, odd_quotes(rows.substr(0, bytes)));
    if (end == std::string_view::npos) break;
    pieces.push_back(rows.substr(0, end));
    rows.remove_prefix(end);
  }
  if (!rows.empty()) pieces.push_back(rows);
  return pieces;
}

}  // namespace drift
