// Finds the size of blocks whose held-out observations lie about as far from the rest as a map's points in gaps do. Points are
// drawn over the observations' extent; those two to thirty spacings from the nearest observation lie in gaps. The side is twice
// the distance that 90 % of them do not exceed. On an image with clouds cut out (the contest of Heaton et al. 2019) that is 27
// km: observations held out in such blocks lie 5.1 km from the rest in the mean, and 90 % within 10 km; the contest's test
// values 5.3 and 12.5 km.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/degree.h"
#include "core/random.h"
#include "core/significant_digits.h"
#include "data/groups.h"
#include "data/tracks.h"
#include "drift/error.h"
#include "drift/split.h"
#include "geo/longitude_extent.h"
#include "geo/point_tree.h"

namespace drift {
namespace {

using Rows = std::optional<std::span<const std::size_t>>;

constexpr std::size_t kMostRows = std::size_t{1} << 17;  // that are looked at; more are thinned out at random
constexpr int kProbes = 20000;                           // points drawn over the extent
constexpr double kInGap = 2.0;                           // spacings: a point further from all observations lies in a gap
constexpr double kBeyond = 30.0;                         // spacings: further off is not a gap but land, or the outside
constexpr double kFewestInGaps = 0.01;                   // of the points drawn: fewer are chance
constexpr double kQuantile = 0.9;                        // of the distances in gaps
constexpr double kBlockPerGap = 2.0;                     // side of a block, by that distance
constexpr double kNarrowest = 5.0;                       // spacings: side of a block, at least
constexpr double kShortest = 3.0;                        // spacings in time: length of a block, at least
constexpr std::size_t kFewestBlocks = 30;

// Spacing and gaps along one kind of distance.
struct Distances {
  double spacing = 0.0;                // median from an observation to the next
  std::optional<double> in_gaps = {};  // quantile over the points in gaps; none: there are no gaps
};

double quantile(std::vector<double>& numbers, double q) {
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(numbers.size() - 1));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

std::optional<double> gap_quantile(std::vector<double> distances, double spacing, double furthest = INFINITY) {
  const std::size_t drawn = distances.size();
  std::erase_if(distances, [&](double d) { return d <= kInGap * spacing || d > furthest; });
  if (distances.empty() || static_cast<double>(distances.size()) < kFewestInGaps * static_cast<double>(drawn))
    return std::nullopt;
  return quantile(distances, kQuantile);
}

std::vector<std::size_t> some_rows(const Observations& o, const Rows& wanted) {
  std::vector<std::size_t> all;
  const std::span<const std::size_t> from = rows_or_all(o, wanted, all);
  std::vector<std::size_t> rows(from.begin(), from.end());
  const double share = static_cast<double>(kMostRows) / static_cast<double>(rows.size());
  if (share < 1.0) {
    std::vector<std::size_t> some;
    for (const std::size_t i : split_at_random(rows.size(), share, 1).held_out) some.push_back(rows[i]);
    rows = std::move(some);
  }
  std::erase_if(rows, [&](std::size_t row) {
    return !std::isfinite(o.lon_deg[row]) || !std::isfinite(o.lat_deg[row]) ||
           (!o.time_days.empty() && !std::isfinite(o.time_days[row]));
  });
  return rows;
}

std::pair<double, double> time_span(const Observations& o, std::span<const std::size_t> rows) {
  std::pair<double, double> span = {INFINITY, -INFINITY};
  for (const std::size_t row : rows) {
    span.first = std::min(span.first, o.time_days[row]), span.second = std::max(span.second, o.time_days[row]);
  }
  return span;
}

// Extent of a map: that of the observations, on the sphere between their outermost longitudes and latitudes.
class MapExtent {
 public:
  MapExtent(const Observations& o, std::span<const std::size_t> rows, bool on_plane) : on_plane_(on_plane) {
    LongitudeExtent longitudes;
    for (const std::size_t row : rows) {
      const double x = o.lon_deg[row], y = on_plane ? o.lat_deg[row] : std::sin(o.lat_deg[row] * kDegree);
      if (!on_plane) longitudes.add(x);
      x0_ = std::min(x0_, x), x1_ = std::max(x1_, x), y0_ = std::min(y0_, y), y1_ = std::max(y1_, y);
    }
    if (on_plane) return;
    const Arc arc = longitudes.arc();
    x0_ = arc.west_deg;
    x1_ = arc.west_deg + arc.span_deg;
  }

  UnitVector draw(RandomStream& random) const {
    const double x = x0_ + (x1_ - x0_) * random.uniform(), y = y0_ + (y1_ - y0_) * random.uniform();
    if (on_plane_) return {x, y, 0.0};
    return unit_vector({x, std::asin(std::clamp(y, -1.0, 1.0)) / kDegree});  // uniform over the area
  }

 private:
  bool on_plane_;
  double x0_ = INFINITY, x1_ = -INFINITY, y0_ = INFINITY, y1_ = -INFINITY;  // y: sine of the latitude on the sphere
};

double nearest(const PointTree& tree, const UnitVector& point, std::size_t which) {
  std::array<std::size_t, 2> index = {};
  std::array<double, 2> squared = {};
  tree.knnSearch(point.data(), which + 1, index.data(), squared.data());
  return std::sqrt(squared.at(which));
}

// In km, or in the plane's unit. Places that are seen again and again count once.
Distances distances_in_space(const Observations& o, std::span<const std::size_t> rows, bool on_plane, const Control& control) {
  PointCloud cloud;
  for (const std::size_t row : rows) {
    cloud.points.push_back(on_plane ? UnitVector{o.lon_deg[row], o.lat_deg[row], 0.0}
                                    : unit_vector({o.lon_deg[row], o.lat_deg[row]}));
  }
  std::sort(cloud.points.begin(), cloud.points.end());
  cloud.points.erase(std::unique(cloud.points.begin(), cloud.points.end()), cloud.points.end());
  if (cloud.points.size() < 2) return {};
  PointTree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  control.check_stop();
  tree.buildIndex();
  control.check_stop();
  const double unit = on_plane ? 1.0 : kEarthRadiusKm;
  std::vector<double> apart;
  const std::size_t stride = std::max<std::size_t>(1, cloud.points.size() / static_cast<std::size_t>(kProbes));
  for (std::size_t i = 0; i < cloud.points.size(); i += stride) apart.push_back(unit * nearest(tree, cloud.points[i], 1));
  Distances found = {.spacing = quantile(apart, 0.5)};
  const MapExtent extent(o, rows, on_plane);
  RandomStream random({.seed = 1, .layer = 2, .purpose = Purpose::split});
  std::vector<double> away;
  for (int i = 0; i < kProbes; ++i) away.push_back(unit * nearest(tree, extent.draw(random), 0));
  // Along tracks observations are close, and gaps between tracks may be any number of spacings wide.
  found.in_gaps = gap_quantile(std::move(away), found.spacing, o.track.empty() ? kBeyond * found.spacing : INFINITY);
  return found;
}

// In days, within squares of this side: between the times at which one is seen, and from any time to the nearest of them.
Distances distances_in_time(const Observations& o, std::span<const std::size_t> rows, const GroupOptions& squares,
                            const Control& control) {
  const Groups groups = find_groups(o, squares, rows, control);
  std::vector<std::vector<double>> times(groups.sizes.size());
  for (std::size_t i = 0; i < rows.size(); ++i) times[groups.of[i]].push_back(o.time_days[rows[i]]);
  const auto [first, last] = time_span(o, rows);
  RandomStream random({.seed = 1, .layer = 3, .purpose = Purpose::split});
  std::vector<double> apart, away;
  for (std::vector<double>& seen : times) {
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (std::size_t i = 1; i < seen.size(); ++i) apart.push_back(seen[i] - seen[i - 1]);
    for (std::size_t i = 0; i < 1 + static_cast<std::size_t>(kProbes) / times.size(); ++i) {
      const double at = first + (last - first) * random.uniform();
      const auto next = std::lower_bound(seen.begin(), seen.end(), at);
      const double after = next == seen.end() ? INFINITY : *next - at,
                   before = next == seen.begin() ? INFINITY : at - *(next - 1);
      away.push_back(std::min(after, before));
    }
  }
  Distances found = {.spacing = apart.empty() ? last - first : quantile(apart, 0.5)};
  found.in_gaps = gap_quantile(std::move(away), found.spacing);
  return found;
}

double two_digits(double number) { return to_digits(number, 2); }

class BlockChooser {
 public:
  BlockChooser(const Observations& o, const Rows& rows, bool on_plane, const std::string& unit, const Control& control)
      : o_(o), rows_(some_rows(o, rows)), unit_(on_plane ? unit : "km"), control_(control) {
    blocks_.method = SplitMethod::block;
    blocks_.on_plane = on_plane;
    blocks_.block = 1.0;
    if (rows_.empty()) throw UsageError("blocks cannot be chosen: no observation has a finite position and time");
  }

  GroupingChoice choose() && {
    space_ = distances_in_space(o_, rows_, blocks_.on_plane, control_);
    const double by_gaps = kBlockPerGap * space_.in_gaps.value_or(0.0);
    if (space_.spacing > 0.0) blocks_.block = std::max(by_gaps, kNarrowest * space_.spacing);
    if (!o_.time_days.empty()) choose_days();
    const bool enough = make_enough();
    blocks_.block = two_digits(blocks_.block);
    if (blocks_.block_days > 0.0) blocks_.block_days = two_digits(blocks_.block_days);
    return {SplitMethod::block, blocks_.block, blocks_.block_days, reason(enough)};
  }

 private:
  void choose_days() {
    const auto [first, last] = time_span(o_, rows_);
    if (first == last) return;
    const Distances time = distances_in_time(o_, rows_, blocks_, control_);
    const double days = std::max(kBlockPerGap * time.in_gaps.value_or(0.0), kShortest * time.spacing);
    if (2.0 * days <= last - first) blocks_.block_days = days;
  }

  // Fewer blocks would leave the scores to one or two of them.
  bool make_enough() {
    const double narrowest = 2.0 * space_.spacing;
    for (bool enough = true;; enough = false) {
      if (find_groups(o_, blocks_, rows_, control_).sizes.size() >= kFewestBlocks || blocks_.block < narrowest ||
          !(narrowest > 0.0))
        return enough;
      blocks_.block *= 0.8;
      blocks_.block_days *= 0.8;
    }
  }

  std::string reason(bool enough) const {
    if (!enough) return fmt::format("Blocks as large as the gaps would be fewer than {}.", kFewestBlocks);
    if (!space_.in_gaps) return "The observations leave no gaps, so blocks are a few observations wide.";
    return fmt::format(
        "Blocks are as large as the gaps to be filled: {:g} % of the points in gaps lie within {:.3g} {} of an observation.",
        100.0 * kQuantile, *space_.in_gaps, unit_);
  }

  const Observations& o_;
  std::vector<std::size_t> rows_;
  std::string unit_;
  const Control& control_;
  GroupOptions blocks_;
  Distances space_;
};

}  // namespace

GroupingChoice choose_blocks(const Observations& observations, bool on_plane, const std::string& unit,
                             const std::optional<std::span<const std::size_t>>& rows, const Control& control) {
  return BlockChooser(observations, rows, on_plane, unit, control).choose();
}

GroupingChoice choose_grouping(const Observations& observations, bool on_plane, const std::string& unit,
                               const std::optional<std::span<const std::size_t>>& rows, const Control& control) {
  std::vector<std::size_t> all;
  const std::size_t tracks = count_tracks(observations, rows_or_all(observations, rows, all));
  if (tracks >= kFewestTracks) {
    return {.method = SplitMethod::track, .reason = "Neighbours on a track are correlated, so tracks are kept whole."};
  }
  GroupingChoice choice = choose_blocks(observations, on_plane, unit, rows, control);
  if (tracks > 0) {
    choice.reason = fmt::format("{} too few to divide. {}", tracks == 1 ? "One track is" : fmt::format("{} tracks are", tracks),
                                choice.reason);
  }
  return choice;
}

}  // namespace drift
