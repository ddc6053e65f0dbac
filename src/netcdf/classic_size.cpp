// The header of a classic file: magic, number of records, dimensions, attributes, variables. Numbers are big-endian; those that
// count are 4 bytes long, in CDF-5 8; offsets are 8 bytes long except in CDF-1. Names and values are padded to 4 bytes.
// https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html

#include "netcdf/classic_size.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <vector>

namespace drift {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;

struct NotUnderstood {};

// Products and sums that stop at kMost, which no file is as long as.
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return std::min(kMost, a + b); }
std::uint64_t padded(std::uint64_t bytes) { return sum(bytes, 3) / 4 * 4; }

std::uint64_t bytes_of_type(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 12> kBytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type == 0 || type >= kBytes.size()) throw NotUnderstood();
  return kBytes.at(type);
}

struct Variable {
  bool has_records = false;
  std::uint64_t bytes = 0;  // of a record, or of the whole variable
  std::uint64_t begin = 0;
};

class Header {
 public:
  explicit Header(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    std::error_code error;
    file_bytes_ = std::filesystem::file_size(path, error);
    std::array<char, 4> magic = {};
    file_.read(magic.data(), magic.size());
    version_ = magic[3];
    const bool known = version_ == 1 || version_ == 2 || version_ == 5;
    if (error || !file_ || magic[0] != 'C' || magic[1] != 'D' || magic[2] != 'F' || !known) throw NotUnderstood();
  }

  std::uint64_t size() {
    const std::uint64_t records = count();
    const bool streaming = records == (version_ == 5 ? ~std::uint64_t{0} : 0xFFFFFFFFU);
    read_dimensions();
    skip_attributes();
    const std::vector<Variable> variables = read_variables();
    return end_of(variables, streaming ? 0 : records);
  }

 private:
  std::uint64_t number(int bytes) {
    std::uint64_t result = 0;
    for (int i = 0; i < bytes; ++i) {
      const int byte = file_.get();
      if (byte == std::ifstream::traits_type::eof()) throw NotUnderstood();
      result = result << 8U | static_cast<std::uint64_t>(byte);
    }
    return result;
  }
  std::uint64_t count() { return number(version_ == 5 ? 8 : 4); }
  std::uint64_t offset() { return number(version_ == 1 ? 4 : 8); }

  void skip(std::uint64_t bytes) {
    if (bytes > file_bytes_) throw NotUnderstood();
    file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
    if (!file_) throw NotUnderstood();
  }

  // Elements of the list that follows; there cannot be more than bytes in the file.
  std::uint64_t list() {
    number(4);
    const std::uint64_t elements = count();
    if (elements > file_bytes_) throw NotUnderstood();
    return elements;
  }

  void read_dimensions() {
    const std::uint64_t elements = list();
    for (std::uint64_t i = 0; i < elements; ++i) {
      skip(padded(count()));
      dimensions_.push_back(count());
    }
  }

  void skip_attributes() {
    const std::uint64_t elements = list();
    for (std::uint64_t i = 0; i < elements; ++i) {
      skip(padded(count()));
      const std::uint64_t bytes = bytes_of_type(number(4));
      skip(padded(product(bytes, count())));
    }
  }

  std::vector<Variable> read_variables() {
    std::vector<Variable> variables(list());
    for (Variable& variable : variables) {
      skip(padded(count()));
      const std::uint64_t rank = count();
      if (rank > file_bytes_) throw NotUnderstood();
      variable.bytes = 1;
      for (std::uint64_t i = 0; i < rank; ++i) {
        const std::uint64_t dimension = count();
        if (dimension >= dimensions_.size()) throw NotUnderstood();
        const std::uint64_t length = dimensions_[dimension];
        if (i == 0 && length == 0) variable.has_records = true;
        if (i > 0 || length > 0) variable.bytes = product(variable.bytes, length);
      }
      skip_attributes();
      variable.bytes = product(variable.bytes, bytes_of_type(number(4)));
      count();  // vsize, which is not reliable for large variables
      variable.begin = offset();
    }
    return variables;
  }

  static std::uint64_t end_of(const std::vector<Variable>& variables, std::uint64_t records) {
    std::uint64_t record_bytes = 0, with_records = 0, end = 0;
    for (const Variable& variable : variables) {
      if (!variable.has_records) continue;
      record_bytes = sum(record_bytes, padded(variable.bytes));
      ++with_records;
    }
    for (const Variable& variable : variables) {
      const std::uint64_t step = with_records == 1 ? variable.bytes : record_bytes;  // one alone is not padded
      const std::uint64_t before = variable.has_records && records > 0 ? product(records - 1, step) : 0;
      if (variable.has_records && records == 0) continue;
      end = std::max(end, sum(sum(variable.begin, before), variable.bytes));
    }
    return end;
  }

  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  int version_ = 0;
  std::vector<std::uint64_t> dimensions_;
};

}  // namespace

std::optional<std::uint64_t> classic_size(const std::filesystem::path& path) {
  try {
    return Header(path).size();
  } catch (const NotUnderstood&) {
    return std::nullopt;
  }
}

}  // namespace drift
