#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "drift/files.h"
#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_publish.h"

namespace drift {

void plot_progress(const std::vector<double>& best_so_far, const std::filesystem::path& picture, const Control& control) {
  check_picture_name(picture);
  check_outputs({}, {{"the picture", picture}});
  const GmtSession gmt("drift tune --picture draws", control);
  check_picture_programs(picture);
  std::string steps;  // "trial value" lines, two a trial
  double low = INFINITY, high = -INFINITY;
  for (std::size_t i = 0; i < best_so_far.size(); ++i) {
    const double value = best_so_far[i];
    if (!std::isfinite(value)) continue;
    steps += fmt::format("{} {}\n{} {}\n", i, value, i + 1, value);
    low = std::min(low, value), high = std::max(high, value);
  }
  if (steps.empty()) throw Error("the study has no trial to draw");
  const double room = std::max(0.05 * (high - low), 1e-6 * std::abs(high) + 1e-12);
  const std::string format = drawn_format(picture);
  gmt.run({"begin", "progress", format});
  gmt.run({"plot", fmt::format("-R0/{}/{}/{}", best_so_far.size(), low - room, high + room), "-JX14c/8c", "-W1.2p,#1b4f72",
           "-Bxaf+ltrial", "-Byaf+lbest so far", "-BWSen"},
          steps);
  gmt.run({"end"});
  publish_picture(gmt, gmt.folder() / ("progress." + format), picture);
}

}  // namespace drift
