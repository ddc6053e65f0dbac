#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace drift {

struct NcDimension {
  std::string name;
  int id;  // unique in a file: two variables lie along the same dimension where ids are equal
  std::size_t length;
};

struct NcVariable {
  std::string name;  // in groups with the path before it: "data_01/ku/ssha"
  int group;
  int id;
  int type;  // NC_SHORT, ...
  std::vector<NcDimension> dimensions;

  std::size_t size() const;       // product of the dimensions' lengths; 1 for a scalar
  std::string base_name() const;  // without the groups
  bool is_number() const;
};

// What CF says about the numbers of a variable: value = stored * scale + offset, and which stored numbers stand for none.
struct NcPacking {
  double scale = 1.0;
  double offset = 0.0;
  std::vector<double> missing = {};  // stored numbers: _FillValue (netCDF's own where none is given), missing_value
  double valid_min = -std::numeric_limits<double>::infinity();  // stored numbers
  double valid_max = std::numeric_limits<double>::infinity();
  double wrap = 0.0;  // added to negative numbers that the attribute _Unsigned makes unsigned, before all else

  // The value, NaN where there is none; is_out_of_range tells the two kinds of none apart.
  double unpack(double stored) const {
    if (stored < 0.0) stored += wrap;
    return is_missing(stored) || is_out_of_range(stored) ? std::numeric_limits<double>::quiet_NaN() : stored * scale + offset;
  }
  bool is_missing(double stored) const {
    for (const double none : missing) {
      if (stored == none) return true;
    }
    return stored != stored;  // NOLINT(misc-redundant-expression): NaN
  }
  bool is_out_of_range(double stored) const { return stored < valid_min || stored > valid_max; }
};

// Variables with dimensions, attributes and numbers, as NetCDF has them: those of a file (NcReader), or a program's own arrays
// (ArraySource). Safe to use from several threads.
class NcSource {
 public:
  explicit NcSource(std::filesystem::path path) : path_(std::move(path)) {}
  virtual ~NcSource() = default;
  NcSource(const NcSource&) = delete;
  NcSource& operator=(const NcSource&) = delete;

  const std::filesystem::path& path() const { return path_; }              // of arrays: what messages call them
  const std::vector<NcVariable>& variables() const { return variables_; }  // of all groups, in the file's order

  // By full name, or by base name where only one variable has it. Null where there is none (or several).
  const NcVariable* find(const std::string& name) const;

  // An attribute of the file, or of a variable. Numbers asked as text are none, and the other way round.
  virtual std::optional<std::string> text(const std::string& attribute) const = 0;
  virtual std::optional<std::string> text(const NcVariable& variable, const std::string& attribute) const = 0;
  virtual std::vector<double> numbers(const std::string& attribute) const = 0;  // empty: none
  virtual std::vector<double> numbers(const NcVariable& variable, const std::string& attribute) const = 0;
  virtual std::vector<std::string> attribute_names(const NcVariable& variable) const = 0;

  NcPacking packing(const NcVariable& variable) const;

  // Makes room for the chunks of compressed variables that blocks cut along dimension `axis` pass through again, up to 256 MiB.
  virtual void keep_chunks(const NcVariable& /*variable*/, std::size_t /*axis*/) const {}

  // A block of stored numbers, as doubles, row-major; spans must hold the product of the counts. Of characters, such as Argo's
  // flags, those that are digits; NaN for others.
  virtual void read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                           std::span<double> out) const = 0;
  // The whole variable, unpacked; NaN where there is no value.
  std::vector<double> read(const NcVariable& variable) const;
  // A variable of characters or strings: one entry a row.
  virtual std::vector<std::string> read_text(const NcVariable& variable) const = 0;

 protected:
  void add(NcVariable variable) { variables_.push_back(std::move(variable)); }
  void swap_variables(NcSource& other) { variables_.swap(other.variables_); }

 private:
  virtual int type_of(const NcVariable& variable, const std::string& attribute) const = 0;  // NC_NAT: there is none
  void set_valid_range(const NcVariable& variable, NcPacking& packing) const;

  std::filesystem::path path_;
  std::vector<NcVariable> variables_;
};

}  // namespace drift
