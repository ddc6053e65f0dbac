#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/csv_header.h"
#include "data/csv_rows.h"
#include "drift/observations.h"

namespace drift {

// Labels, numbered from 0 as they first appear.
class CsvLabels {
 public:
  std::size_t number_of(std::string_view label);
  const std::vector<std::string>& labels() const { return labels_; }
  void clear();

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard library's name
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> labels_;
  std::size_t last_ = 0;  // labels come in runs
};

inline constexpr std::size_t kMostPlatforms = 256;  // Observations::platform is a byte

// What the rows of one piece of text hold. Tracks and platforms are numbers of this chunk's own labels.
struct CsvChunk {
  Observations observations;
  CsvLabels tracks;  // the platform's label, \0, the track's
  CsvLabels platforms;
  std::size_t rows = 0;
  std::array<std::size_t, kCsvRoles> missing = {};  // rows left out, by the first role without a value
  const char* first_iso_time = nullptr;
  const char* first_number_time = nullptr;
  std::optional<CsvProblem> problem;  // the first; what comes after it was not read

  // Empties it and reads `text`, which is whole rows ending with \n.
  void read(std::string_view text, const CsvLayout& layout);
};

}  // namespace drift
