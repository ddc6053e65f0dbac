#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/csv_header.h"
#include "data/csv_rows.h"
#include "data/labels.h"
#include "drift/observations.h"

namespace drift {

// Rows with which one thing is wrong.
struct CsvBad {
  std::size_t count = 0;
  std::vector<CsvProblem> first;  // up to kBadShown of them
};
inline constexpr std::size_t kBadShown = 3;

// What the rows of one piece of text hold. Tracks and platforms are numbers of this chunk's own labels.
struct CsvChunk {
  Observations observations;
  Labels tracks;  // the platform's label, \0, the track's
  Labels platforms;
  std::size_t rows = 0;
  std::array<std::size_t, kCsvRoles> missing = {};  // rows left out, by the first role without a value
  std::vector<Rejected> refused;                    // rows that were not wanted
  std::vector<CsvBad> bad;  // rows that cannot be what they should, left out: by kind, in the order in which these occur
  std::optional<CsvProblem> problem;  // after which no row can be told; what comes after it was not read

  // Empties it and reads `text`, which is whole rows ending with \n.
  void read(std::string_view text, const CsvLayout& layout);
};

}  // namespace drift
