#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "netcdf/nc_source.h"

namespace drift {

class UnpackedZarr;
class Zarr3View;

// A NetCDF file (classic, 64-bit, 4), a Zarr store or what a server gives by OPeNDAP, open for reading. Safe to use from several
// threads; they take turns.
class NcReader : public NcSource {
 public:
  // Throws Error with one sentence when there is no such file, it is a folder, empty, truncated or not NetCDF.
  // Throws Stopped while a packed Zarr store is unpacked: arrays whose codecs netCDF lacks are unpacked by a program, or left for
  // whoever reads none of their values.
  enum class Packed { unpack, as_it_is };
  explicit NcReader(const std::filesystem::path& path, const std::stop_token& stop = {}, Packed packed = Packed::unpack);
  ~NcReader() override;
  NcReader(const NcReader&) = delete;
  NcReader& operator=(const NcReader&) = delete;

  std::optional<std::string> text(const std::string& attribute) const override;
  std::optional<std::string> text(const NcVariable& variable, const std::string& attribute) const override;
  std::vector<double> numbers(const std::string& attribute) const override;
  std::vector<double> numbers(const NcVariable& variable, const std::string& attribute) const override;
  std::vector<std::string> attribute_names(const NcVariable& variable) const override;

  bool has_checksums(const NcVariable& variable) const;  // of its chunks (HDF5's Fletcher-32): a flipped bit fails to be read

  void keep_chunks(const NcVariable& variable, std::size_t axis) const override;
  void read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                   std::span<double> out) const override;
  std::vector<std::string> read_text(const NcVariable& variable) const override;
  // Reads all numbers of a variable and lets them go, some rows of its first dimension at a time: what is damaged throws.
  void read_through(const NcVariable& variable) const;

 private:
  std::filesystem::path store() const;  // that is open: of a Zarr store of version 3 one of version 2
  void open();
  void unpack_zarr(const std::stop_token& stop);
  static std::size_t filters_of(const NcVariable& variable);
  void list_group(int group, const std::string& prefix);
  std::optional<std::string> text_of(int group, int variable, const std::string& attribute) const;
  std::vector<double> numbers_of(int group, int variable, const std::string& attribute) const;
  int type_of(const NcVariable& variable, const std::string& attribute) const override;
  void check_packing(const NcVariable& variable) const;

  std::unique_ptr<const Zarr3View> view_;
  std::unique_ptr<const UnpackedZarr> unpacked_;  // what is open in place of a store that is packed
  int file_ = -1;
};

}  // namespace drift
