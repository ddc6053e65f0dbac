#include "fitting/inverse_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <nanoflann.hpp>
#include <numeric>

#include "core/threads.h"

namespace drift {
namespace {

constexpr std::size_t kNearestByDistance = 20;
constexpr std::array<double, 5> kTimeCounts = {0.0, 0.03, 0.1, 0.3, 1.0};  // w
constexpr int kNone = -1;

using Point = std::array<double, 4>;

// The names are those that nanoflann asks for.
struct ScaledPoints {
  std::vector<Point> points;

  std::size_t kdtree_get_point_count() const { return points.size(); }
  double kdtree_get_pt(std::size_t index, std::size_t axis) const { return points[index].at(axis); }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using ScaledTree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, ScaledPoints>, ScaledPoints, 4, std::size_t>;

// The nearest outside one fold, nearest first: what a search of nanoflann fills.
class NearestOutsideFold {
 public:
  using DistanceType = double;

  NearestOutsideFold(std::span<const std::uint8_t> fold, int left_out) : fold_(fold), left_out_(left_out) {}

  std::size_t size() const { return count_; }
  bool full() const { return count_ == kNearestByDistance; }
  double worstDist() const {  // NOLINT(readability-identifier-naming)
    return full() ? square_.back() : std::numeric_limits<double>::max();
  }
  bool addPoint(double square, std::size_t row) {  // NOLINT(readability-identifier-naming)
    if (left_out_ != kNone && fold_[row] == left_out_) return true;
    std::size_t at = full() ? count_ - 1 : count_++;
    for (; at > 0 && square_.at(at - 1) > square; --at) square_.at(at) = square_.at(at - 1), row_.at(at) = row_.at(at - 1);
    square_.at(at) = square, row_.at(at) = row;
    return true;  // go on
  }
  void sort() {}

  double square(std::size_t i) const { return square_.at(i); }
  std::size_t row(std::size_t i) const { return row_.at(i); }

 private:
  std::span<const std::uint8_t> fold_;
  int left_out_;
  std::size_t count_ = 0;
  std::array<double, kNearestByDistance> square_ = {};
  std::array<std::size_t, kNearestByDistance> row_ = {};
};

// Root-mean-square distance from the mean, of these columns.
double extent_of(MatrixView<const float> rows, std::size_t from, std::size_t to) {
  const auto n = static_cast<double>(rows.rows);
  double sum = 0.0;
  for (std::size_t d = from; d < to; ++d) {
    double mean = 0.0, square = 0.0;
    for (std::size_t i = 0; i < rows.rows; ++i) mean += static_cast<double>(rows(i, d)) / n;
    for (std::size_t i = 0; i < rows.rows; ++i) square += std::pow(static_cast<double>(rows(i, d)) - mean, 2) / n;
    sum += square;
  }
  return sum > 0.0 ? std::sqrt(sum) : 1.0;
}

class ByDistance {
 public:
  ByDistance(const DistanceData& data, double time_counts) : data_(data) {
    const std::size_t spaces = data.coordinates.cols - (data.has_time ? 1 : 0);
    scale_.fill(1.0 / extent_of(data.coordinates, 0, spaces));
    if (data.has_time) scale_.at(spaces) = time_counts / extent_of(data.coordinates, spaces, spaces + 1);
    for (std::size_t i = 0; i < data.coordinates.rows; ++i) points_.points.push_back(scaled(data.coordinates.row(i)));
    tree_ = std::make_unique<ScaledTree>(4, points_, nanoflann::KDTreeSingleIndexAdaptorParams(12));
    mean_ = std::accumulate(data.values.begin(), data.values.end(), 0.0) / static_cast<double>(data.values.size());
  }

  DistanceForecast forecast(const DistanceTargets& targets, int threads) const {
    const std::size_t m = targets.coordinates.rows;
    DistanceForecast out = {std::vector<double>(m), std::vector<double>(m), 0.0};
    const int used = threads_or_all(threads);
    run_on_threads(used, [&](int thread) {
      for (auto i = static_cast<std::size_t>(thread); i < m; i += static_cast<std::size_t>(used)) {
        const int left_out = targets.fold.empty() || data_.fold.empty() ? kNone : targets.fold[i];
        at(targets.coordinates.row(i), left_out, out.mean[i], out.nearest[i]);
      }
    });
    for (std::size_t i = 0; i < m; ++i) out.rmse += std::pow(out.mean[i] - targets.values[i], 2) / static_cast<double>(m);
    out.rmse = std::sqrt(out.rmse);
    return out;
  }

 private:
  Point scaled(const float* row) const {
    Point point = {};
    for (std::size_t d = 0; d < data_.coordinates.cols; ++d) point.at(d) = scale_.at(d) * static_cast<double>(row[d]);
    return point;
  }

  void at(const float* row, int left_out, double& mean, double& nearest) const {
    const Point point = scaled(row);
    NearestOutsideFold found(data_.fold, left_out);
    tree_->findNeighbors(found, point.data(), {});
    mean = mean_;
    nearest = std::numeric_limits<double>::infinity();
    if (found.size() == 0) return;
    nearest = std::sqrt(found.square(0));
    // On an observation only those at the same place count.
    constexpr double kSamePlace = 1e-18;
    double weights = 0.0, sum = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double weight = 1.0 / std::max(found.square(i), kSamePlace);
      weights += weight;
      sum += weight * data_.values[found.row(i)];
    }
    mean = sum / weights;
  }

  const DistanceData& data_;
  std::array<double, 4> scale_ = {};
  ScaledPoints points_;
  std::unique_ptr<ScaledTree> tree_;
  double mean_ = 0.0;
};

}  // namespace

DistanceForecast forecast_by_distance(const DistanceData& data, const DistanceTargets& targets, int threads) {
  DistanceForecast best;
  for (const double time_counts : kTimeCounts) {
    DistanceForecast found = ByDistance(data, time_counts).forecast(targets, threads);
    if (best.mean.empty() || found.rmse < best.rmse) best = std::move(found);
    if (!data.has_time) break;
  }
  return best;
}

}  // namespace drift
