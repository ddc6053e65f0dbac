#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drift/read_arrays.h"
#include "netcdf/nc_source.h"

namespace drift {

// A program's own arrays, read as a NetCDF file is. Must not outlive them. Throws UsageError as read_arrays does.
class ArraySource : public NcSource {
 public:
  explicit ArraySource(const ArrayFile& arrays);

  std::optional<std::string> text(const std::string& attribute) const override;
  std::optional<std::string> text(const NcVariable& variable, const std::string& attribute) const override;
  std::vector<double> numbers(const std::string& attribute) const override;
  std::vector<double> numbers(const NcVariable& variable, const std::string& attribute) const override;
  std::vector<std::string> attribute_names(const NcVariable& variable) const override;
  void read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                   std::span<double> out) const override;
  std::vector<std::string> read_text(const NcVariable& variable) const override;

 private:
  int type_of(const NcVariable& variable, const std::string& attribute) const override;
  const ArrayVariable& array_of(const NcVariable& variable) const;
  const std::vector<double>& loaded(const NcVariable& variable) const;

  const ArrayFile& arrays_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::vector<double>> loaded_;  // by id, once asked for
};

}  // namespace drift
