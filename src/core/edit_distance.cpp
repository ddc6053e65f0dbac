#include "core/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace drift {

// Row by row: cost[j] of turning the letters of `a` so far into b[0, j).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), cost(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) cost[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, cost);
    cost[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[j] = std::min({last[j] + 1, cost[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[j] = std::min(cost[j], before_last[j - 2] + 1);
    }
  }
  return cost[b.size()];
}

}  // namespace drift
