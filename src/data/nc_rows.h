#pragma once

#include <cstddef>

#include "data/file_part.h"
#include "data/nc_layout.h"

namespace drift {

inline constexpr std::size_t kNcBlockCells = std::size_t{1} << 17;  // cells in memory at a time, for each variable in use

// Reads the observations of a file, in its order. Throws Error.
FilePart read_rows(const NcSource& file, const NcLayout& layout, const RowFilter& filter, const Control& control = {},
                   std::size_t block_cells = kNcBlockCells);

}  // namespace drift
