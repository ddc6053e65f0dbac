// The header of a classic file: magic, number of records, dimensions, attributes, variables. Numbers are big-endian; those that
// count are 4 bytes long, in CDF-5 8; offsets are 8 bytes long except in CDF-1. Names and values are padded to 4 bytes.
// https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html

#include "netcdf/classic_header.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;

struct Damaged {};
struct CutShort {};

// Products and sums that stop at kMost, which no file is as long as.
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > kMost || b > kMost ? kMost : std::min(kMost, a + b); }
std::uint64_t padded(std::uint64_t bytes) { return sum(bytes, 3) / 4 * 4; }

std::uint64_t bytes_of_type(std::uint64_t type, int version) {
  constexpr std::array<std::uint64_t, 12> kBytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type == 0 || type >= (version == 5 ? kBytes.size() : 7)) throw Damaged();
  return kBytes.at(type);
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80U) return false;
    }
    i += length;
  }
  return true;
}

struct Variable {
  bool has_records = false;
  std::uint64_t bytes = 1;  // of a record, or of the whole variable
  std::uint64_t begin = 0;
};

class Header {
 public:
  Header(std::ifstream& file, int version, std::uint64_t file_bytes) : file_(file), version_(version), file_bytes_(file_bytes) {}

  // Bytes that the file must have.
  std::uint64_t follow() {
    const std::uint64_t records = count();
    const bool streaming = records == (version_ == 5 ? ~std::uint64_t{0} : 0xFFFFFFFFU);
    read_dimensions();
    skip_attributes();
    const std::vector<Variable> variables = read_variables();
    const std::uint64_t header_end = at_;
    for (const Variable& variable : variables) {
      if (variable.begin < header_end) throw Damaged();
    }
    return end_of(variables, streaming ? 0 : records);
  }

 private:
  std::uint64_t number(int bytes) {
    std::uint64_t result = 0;
    for (int i = 0; i < bytes; ++i, ++at_) {
      const int byte = file_.get();
      if (byte == std::ifstream::traits_type::eof()) throw CutShort();
      result = result << 8U | static_cast<std::uint64_t>(byte);
    }
    return result;
  }
  std::uint64_t count() { return number(version_ == 5 ? 8 : 4); }
  std::uint64_t offset() { return number(version_ == 1 ? 4 : 8); }

  void skip(std::uint64_t bytes) {
    if (sum(at_, bytes) > file_bytes_) throw CutShort();
    file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
    at_ += bytes;
  }

  void read_name() {
    const std::uint64_t length = count();
    if (length == 0 || length > NC_MAX_NAME) throw Damaged();
    std::string name(length, '\0');
    file_.read(name.data(), static_cast<std::streamsize>(length));
    if (!file_) throw CutShort();
    at_ += length;
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '/' || c == '\x7F'; };
    if (std::any_of(name.begin(), name.end(), is_control) || !is_utf8(name)) throw Damaged();
    skip(padded(length) - length);
  }

  // Elements of the list that follows, which has a tag of its own unless it is absent; each takes 8 bytes or more.
  std::uint64_t list(std::uint64_t tag) {
    const std::uint64_t found = number(4), elements = count();
    if ((found != tag && found != 0) || (found == 0 && elements != 0)) throw Damaged();
    if (elements > (file_bytes_ - at_) / 8) throw CutShort();
    return elements;
  }

  void read_dimensions() {
    const std::uint64_t elements = list(0x0A);
    for (std::uint64_t i = 0; i < elements; ++i) {
      read_name();
      dimensions_.push_back(count());
    }
    if (std::count(dimensions_.begin(), dimensions_.end(), 0U) > 1) throw Damaged();  // one has records at most
  }

  void skip_attributes() {
    const std::uint64_t elements = list(0x0C);
    for (std::uint64_t i = 0; i < elements; ++i) {
      read_name();
      const std::uint64_t bytes = bytes_of_type(number(4), version_);
      skip(padded(product(bytes, count())));
    }
  }

  std::vector<Variable> read_variables() {
    std::vector<Variable> variables(list(0x0B));
    for (Variable& variable : variables) {
      read_name();
      const std::uint64_t rank = count();
      if (rank > NC_MAX_VAR_DIMS) throw Damaged();
      for (std::uint64_t i = 0; i < rank; ++i) {
        const std::uint64_t dimension = count();
        if (dimension >= dimensions_.size()) throw Damaged();
        const std::uint64_t length = dimensions_[dimension];
        if (length == 0 && i > 0) throw Damaged();  // records are the slowest dimension
        if (length == 0) variable.has_records = true;
        if (length > 0) variable.bytes = product(variable.bytes, length);
      }
      skip_attributes();
      variable.bytes = product(variable.bytes, bytes_of_type(number(4), version_));
      count();  // its bytes once more, which is not reliable for large variables
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
      if (variable.has_records && records == 0) continue;
      const std::uint64_t step = with_records == 1 ? variable.bytes : record_bytes;  // one alone is not padded
      const std::uint64_t before = variable.has_records ? product(records - 1, step) : 0;
      end = std::max(end, sum(sum(variable.begin, before), variable.bytes));
    }
    return end;
  }

  std::ifstream& file_;
  int version_;
  std::uint64_t file_bytes_;
  std::uint64_t at_ = 4;  // behind the magic
  std::vector<std::uint64_t> dimensions_;
};

}  // namespace

void check_classic_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> magic = {};
  file.read(magic.data(), magic.size());
  const int version = static_cast<unsigned char>(magic[3]);
  if (!file || std::string_view(magic.data(), 3) != "CDF" || (version != 1 && version != 2 && version != 5)) return;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return;
  try {
    const std::uint64_t announced = Header(file, version, bytes).follow();
    if (bytes < announced) {
      throw Error(fmt::format("{}: is truncated: its header announces {} bytes, there are {}", path.string(), announced, bytes));
    }
  } catch (const CutShort&) {
    throw Error(fmt::format("{}: is truncated or damaged: it ends within its header", path.string()));
  } catch (const Damaged&) {
    throw Error(fmt::format("{}: is damaged: its header is not that of a NetCDF file", path.string()));
  }
}

}  // namespace drift
