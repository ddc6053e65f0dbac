#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "netcdf/nc_source.h"

namespace drift {

// A block of the value's cells: indices start to start + count along each of its dimensions.
struct NcBlock {
  std::vector<std::size_t> start, count;

  std::size_t size() const;
};

// Cuts a variable into blocks of about so many cells, in row-major order: whole along the fast dimensions, one index along the
// slow ones, a range along one between them.
class NcBlocks {
 public:
  NcBlocks(const NcVariable& value, std::size_t cells);

  std::size_t axis() const { return axis_; }  // the dimension that is cut into ranges
  bool next(NcBlock& block);                  // false after the last

 private:
  std::vector<std::size_t> length_, at_;
  std::size_t axis_ = 0, step_ = 1;
  bool finished_ = false;
};

// A variable that lies along some of the value's dimensions, as one number for each cell of a block of the value.
class NcColumn {
 public:
  NcColumn(const NcSource& file, const NcVariable& value, const NcVariable& variable, std::size_t axis);
  // Numbers already in memory, one for each index of the first `rank` dimensions of the variable.
  NcColumn(const NcVariable& value, const NcVariable& variable, std::size_t rank, std::vector<double> numbers);

  void load(const NcBlock& block);
  std::span<const double> cells() const { return cells_; }  // unpacked, NaN where there is none; valid until the next load

  // The same without unpacking, for those who want to know why there is none.
  void load_stored(const NcBlock& block);
  const NcPacking& packing() const { return packing_; }

 private:
  void load(const NcBlock& block, bool unpack);
  void spread(const NcBlock& block, std::size_t base, const std::vector<std::size_t>& strides);

  const NcSource* file_ = nullptr;
  const NcVariable* variable_;
  std::vector<std::size_t> place_;  // of each of the variable's dimensions among the value's
  NcPacking packing_;
  NcBlock own_;                  // of the variable, as read last
  std::vector<double> numbers_;  // of own_, or of the whole variable where there is no file_
  std::vector<double> spread_;
  std::span<const double> cells_;
};

}  // namespace drift
