#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
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

// A NetCDF file (classic, 64-bit, 4), a Zarr store or what a server gives by OPeNDAP, open for reading. Safe to use from several
// threads; they take turns.
class NcReader {
 public:
  // Throws Error with one sentence when there is no such file, it is a folder, empty, truncated or not NetCDF.
  explicit NcReader(const std::filesystem::path& path);
  ~NcReader();
  NcReader(const NcReader&) = delete;
  NcReader& operator=(const NcReader&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::vector<NcVariable>& variables() const { return variables_; }  // of all groups, in the file's order

  // By full name, or by base name where only one variable has it. Null where there is none (or several).
  const NcVariable* find(const std::string& name) const;

  // An attribute of the file, or of a variable. Numbers asked as text are none, and the other way round.
  std::optional<std::string> text(const std::string& attribute) const;
  std::optional<std::string> text(const NcVariable& variable, const std::string& attribute) const;
  std::vector<double> numbers(const std::string& attribute) const;  // empty: none
  std::vector<double> numbers(const NcVariable& variable, const std::string& attribute) const;
  std::vector<std::string> attribute_names(const NcVariable& variable) const;

  NcPacking packing(const NcVariable& variable) const;
  bool has_checksums(const NcVariable& variable) const;  // of its chunks (HDF5's Fletcher-32): a flipped bit fails to be read

  // Makes room for the chunks of compressed variables that blocks cut along dimension `axis` pass through again, up to 256 MiB.
  void keep_chunks(const NcVariable& variable, std::size_t axis) const;

  // A block of stored numbers, as doubles, row-major; spans must hold the product of the counts. Of characters, such as Argo's
  // flags, those that are digits; NaN for others.
  void read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                   std::span<double> out) const;
  // The whole variable, unpacked; NaN where there is no value.
  std::vector<double> read(const NcVariable& variable) const;
  // Reads all numbers of a variable and lets them go, some rows of its first dimension at a time: what is damaged throws.
  void read_through(const NcVariable& variable) const;
  // A variable of characters or strings: one entry a row.
  std::vector<std::string> read_text(const NcVariable& variable) const;

 private:
  void list_group(int group, const std::string& prefix);
  std::optional<std::string> text_of(int group, int variable, const std::string& attribute) const;
  std::vector<double> numbers_of(int group, int variable, const std::string& attribute) const;
  int type_of(const NcVariable& variable, const std::string& attribute) const;
  void check_packing(const NcVariable& variable) const;
  void set_valid_range(const NcVariable& variable, NcPacking& packing) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::vector<NcVariable> variables_;
};

// Whether the path is the address of something on a server, "https://...", which netCDF-C fetches.
bool is_remote(const std::filesystem::path& path);

// Whether the folder is a Zarr store of version 2.
bool is_zarr(const std::filesystem::path& path);

// Whether the file is based on HDF5: its signature may lie behind a user block of 512, 1024, 2048, ... bytes. False for what
// cannot be opened.
bool is_hdf5(const std::filesystem::path& path);

// Whether it is that, or begins as classic NetCDF files do. False for what cannot be opened.
bool looks_like_netcdf(const std::filesystem::path& path);

}  // namespace drift
