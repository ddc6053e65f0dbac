#include "output/plot_dots.h"

#include <algorithm>

namespace drift {

std::vector<double> choose_dots(const Observations& observations, const DotWindow& window, std::size_t most) {
  const bool by_time = std::isfinite(window.time_days) && observations.time_days.size() == observations.size();
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (!by_time || std::abs(observations.time_days[i] - window.time_days) <= window.within_days) shown.push_back(i);
  }
  const std::size_t limit = std::max<std::size_t>(1, most);
  const std::size_t every = std::max<std::size_t>(1, (shown.size() + limit - 1) / limit);
  std::vector<double> dots;
  for (std::size_t i = 0; i < shown.size(); i += every) {
    dots.insert(dots.end(), {observations.lon_deg[shown[i]], observations.lat_deg[shown[i]], observations.value[shown[i]]});
  }
  return dots;
}

}  // namespace drift
