#include "data/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/csv_field.h"

namespace drift {
namespace {

bool at_row_end(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }

// Rows one after the other, from the start of a text that ends with \n.
class RowWalk {
 public:
  RowWalk(const CsvRowScanner& scanner, std::string_view text) : scanner_(scanner), text_(text) {}

  std::size_t at() const { return at_; }

  // To the next row or, where there are no quotes on the way, to the first that begins behind `far`. False where there is none.
  bool step(std::size_t far = 0) {
    if (at_ == text_.size()) return false;
    if (quote_ < at_) quote_ = std::min(text_.size(), text_.find('"', at_));
    for (const std::size_t from : {std::max(at_, far), at_}) {
      const std::size_t line_end = text_.find('\n', from);
      if (line_end >= quote_) continue;
      at_ = line_end + 1;
      return true;
    }
    const char* const next = scanner_.scan(text_.data() + at_, text_.data() + text_.size(), none_).next;
    if (next == nullptr) return false;
    at_ = static_cast<std::size_t>(next - text_.data());
    return true;
  }

 private:
  const CsvRowScanner& scanner_;
  std::string_view text_;
  std::size_t at_ = 0, quote_ = 0;  // the next row; the first quote at or after it, unless that lies before it
  std::vector<CsvField> none_;
};

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

CsvRow CsvRowScanner::scan(const char* row, const char* end, std::vector<CsvField>& fields) const {
  CsvRow result;
  const char* at = row;
  for (;; ++at) {
    at = skip_blanks(at);
    if (at_row_end(at) && (separator_ == ' ' || result.count == 0)) break;
    CsvField field;
    at = *at == '"' ? scan_quoted(at, end, field, result) : scan_plain(at, field, result);
    if (at == nullptr) return result;
    if (result.count < fields.size()) fields[result.count] = field;
    ++result.count;
    if (at_row_end(at)) break;
  }
  result.next = at + (*at == '\r' ? 2 : 1);
  return result;
}

// Null where the quote is not closed.
const char* CsvRowScanner::scan_quoted(const char* at, const char* end, CsvField& field, CsvRow& row) const {
  const char* const open = at++;
  field.quoted = true;
  for (;; at += 2) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) {
      row.at = open, row.fault = "the quote that opens here is never closed";
      return nullptr;
    }
    if (at[1] != '"') break;  // there is an at[1]: the text ends with \n
    field.escaped = true;
  }
  field.text = {open + 1, at};
  const char* const behind = at + 1;
  at = skip_blanks(behind);
  // Blanks that separate were just skipped, but the caller steps over one separator.
  if (separator_ == ' ' && at != behind && !at_row_end(at)) --at;
  if (*at == separator_ || *at == '\t' || at_row_end(at)) return at;
  CsvField rest;
  at = scan_plain(at, rest, row);
  row.at = open, row.fault = "text follows the closing quote of a field; a quote within a quoted field is written \"\"";
  return at;
}

const char* CsvRowScanner::scan_plain(const char* at, CsvField& field, CsvRow& row) const {
  const char* const begin = at;
  for (; !ends_field_[static_cast<unsigned char>(*at)] || *at == '"'; ++at) {
    if (*at != '"' || row.at != nullptr) continue;
    row.at = at;
    row.fault = "a quote within a field that does not begin with one; put the whole field in quotes and double the quote";
  }
  const char* last = at;
  if (*at == '\n' && last != begin && last[-1] == '\r') at = --last;
  while (last != begin && (last[-1] == ' ' || last[-1] == '\t')) --last;
  field.text = {begin, last};
  return at;
}

std::size_t CsvRowScanner::whole_rows(std::string_view text) const {
  text = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
  if (text.find('"') == std::string_view::npos) return text.size();
  RowWalk walk(*this, text);
  while (walk.step()) {
  }
  return walk.at();
}

std::vector<std::string_view> CsvRowScanner::cut_at_rows(std::string_view rows, std::size_t bytes) const {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (RowWalk walk(*this, rows); walk.step(begin + bytes);) {
    if (walk.at() - begin <= bytes) continue;
    pieces.push_back(rows.substr(begin, walk.at() - begin));
    begin = walk.at();
  }
  if (begin < rows.size()) pieces.push_back(rows.substr(begin));
  return pieces;
}

std::size_t first_row(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i + 1;
  }
  return 0;
}

}  // namespace drift
