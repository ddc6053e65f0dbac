#include "output/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drift {

std::vector<Tick> nice_ticks(double low, double high, int most) {
  const double slack = 1e-9 * (high - low);  // ends that are meant as round numbers stay inside
  for (int power = static_cast<int>(std::floor(std::log10((high - low) / most))) - 1;; ++power) {
    for (double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * std::pow(10.0, power);
      const double first = std::ceil((low - slack) / step), last = std::floor((high + slack) / step);
      if (last - first + 1.0 > most) continue;
      std::vector<Tick> ticks;
      for (double k = first; k <= last; ++k) {
        const double value = k == 0.0 ? 0.0 : k * step;
        ticks.push_back({value, fmt::format("{:.{}f}", value, std::max(0, -power))});
      }
      return ticks;
    }
  }
}

}  // namespace drift
