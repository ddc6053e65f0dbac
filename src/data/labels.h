#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace drift {

// Labels, numbered from 0 as they first appear.
class Labels {
 public:
  std::size_t number_of(std::string_view label);
  const std::vector<std::string>& labels() const { return labels_; }
  std::size_t size() const { return labels_.size(); }
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

}  // namespace drift
