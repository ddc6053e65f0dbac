#include "process/outliers.h"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "core/threads.h"
#include "gp/nearest_neighbours.h"

namespace drift {
namespace {

constexpr std::size_t kBeside = 3;   // neighbours of a side
constexpr double kStandOut = 6.0;    // standard deviations; twice as many where only one of two sides is known
constexpr double kTooFar = 2.0;      // of the usual distance to the farthest neighbour
constexpr double kMadToSd = 1.4826;  // of a Gaussian
constexpr std::size_t kReachRows = 5000;
constexpr std::size_t kRowsAtOnce = 4096;

float median_of(std::vector<float>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return numbers.size() % 2 == 1 ? *middle : 0.5F * (*middle + *std::max_element(numbers.begin(), middle));
}

// The neighbours of a row: before and after it on its track, or all around it.
class Sides {
 public:
  Sides(bool has_time, const PlaceData& data) : data_(data) {
    const std::size_t n = data.size(), columns = data.coordinates.cols;
    if (data.track.empty()) {
      tree_.emplace(Eigen::Map<const Eigen::MatrixXf>(data.coordinates.row(0), static_cast<Eigen::Index>(columns),
                                                      static_cast<Eigen::Index>(n))
                        .cast<double>());
      return;
    }
    order_.resize(n), place_.resize(n);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto key = [&](std::size_t row) {
      return std::pair(data.track[row], has_time ? data.coordinates(row, columns - 1) : 0.0F);
    };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < n; ++i) place_[order_[i]] = i;
  }

  std::size_t count() const { return tree_ ? 1 : 2; }

  // False if the side has too few.
  bool find(std::size_t row, std::size_t side, std::vector<std::size_t>& out) const {
    out.clear();
    if (tree_) {
      std::vector<Eigen::Index> found;
      tree_->find(tree_->points().col(static_cast<Eigen::Index>(row)).data(), 2 * kBeside + 1, found);
      for (const Eigen::Index other : found) {
        if (static_cast<std::size_t>(other) != row && out.size() < 2 * kBeside) out.push_back(static_cast<std::size_t>(other));
      }
      return out.size() == 2 * kBeside;
    }
    const std::size_t at = place_[row];
    for (std::size_t i = 1; i <= kBeside; ++i) {
      const std::size_t to = side == 0 ? at - i : at + i;  // beyond the first it wraps around to the largest
      if (to >= order_.size() || data_.track[order_[to]] != data_.track[row]) return false;
      out.push_back(order_[to]);
    }
    return true;
  }

  double farthest(std::size_t row, const std::vector<std::size_t>& others) const {
    double most = 0.0;
    for (const std::size_t other : others) {
      double square = 0.0;
      for (std::size_t d = 0; d < data_.coordinates.cols; ++d) {
        square += std::pow(static_cast<double>(data_.coordinates(row, d)) - static_cast<double>(data_.coordinates(other, d)), 2);
      }
      most = std::max(most, square);
    }
    return std::sqrt(most);
  }

  // Of some rows, the median: neighbours up to twice as far count. 0: there are none.
  double usual_reach() const {
    std::vector<float> reaches;
    std::vector<std::size_t> others;
    for (std::size_t row = 0; row < data_.size(); row += std::max<std::size_t>(1, data_.size() / kReachRows)) {
      for (std::size_t side = 0; side < count(); ++side) {
        if (find(row, side, others)) reaches.push_back(static_cast<float>(farthest(row, others)));
      }
    }
    return reaches.empty() ? 0.0 : static_cast<double>(median_of(reaches));
  }

 private:
  const PlaceData& data_;
  std::optional<gp::NeighbourTree> tree_;
  std::vector<std::size_t> order_, place_;  // rows by track and time; where each row is among them
};

template <class Work>
void for_rows(std::size_t rows, int threads, const Control& control, const Work& work) {
  std::atomic<std::size_t> next = 0;
  run_on_threads(threads_or_all(threads), [&](int) {
    for (std::size_t first = next.fetch_add(kRowsAtOnce); first < rows; first = next.fetch_add(kRowsAtOnce)) {
      control.check_stop();
      for (std::size_t row = first; row < std::min(rows, first + kRowsAtOnce); ++row) work(row);
    }
  });
}

}  // namespace

Despiked without_outliers(bool has_time, const PlaceData& data, int threads, const Control& control) {
  const std::size_t n = data.size();
  Despiked out = {{data.values.begin(), data.values.end()}, 0};
  if (n == 0) return out;
  const Sides sides(has_time, data);
  const double reach = kTooFar * sides.usual_reach();

  std::vector<float> middle(n), residual(n, INFINITY);
  std::vector<std::uint8_t> known(n);  // sides that tell
  for_rows(n, threads, control, [&](std::size_t row) {
    std::vector<std::size_t> others;
    std::vector<float> numbers;
    for (std::size_t side = 0; side < sides.count(); ++side) {
      if (!sides.find(row, side, others) || sides.farthest(row, others) > reach) continue;
      numbers.clear();
      for (const std::size_t other : others) numbers.push_back(data.values[other]);
      const float median = median_of(numbers), distance = std::abs(data.values[row] - median);
      ++known[row];
      if (distance < residual[row]) residual[row] = distance, middle[row] = median;
    }
  });
  std::vector<float> all;
  for (std::size_t row = 0; row < n; ++row) {
    if (known[row] == sides.count() && residual[row] > 0.0F) all.push_back(residual[row]);  // rounded values are often the same
  }
  if (all.empty()) return out;
  const float usual = median_of(all);

  std::atomic<std::size_t> outliers = 0;
  for_rows(n, threads, control, [&](std::size_t row) {
    const auto stands_out = [&](float scale) {
      const double limit = (known[row] == sides.count() ? 1.0 : 2.0) * kStandOut * kMadToSd * static_cast<double>(scale);
      return known[row] > 0 && static_cast<double>(residual[row]) > limit;
    };
    if (!stands_out(usual)) return;
    std::vector<std::size_t> others;
    std::vector<float> numbers;
    for (std::size_t side = 0; side < sides.count(); ++side) {
      sides.find(row, side, others);
      for (const std::size_t other : others) {
        if (known[other] > 0) numbers.push_back(residual[other]);
      }
    }
    if (numbers.size() < kBeside || !stands_out(median_of(numbers))) return;
    out.values[row] = middle[row];
    ++outliers;
  });
  out.outliers = outliers;
  return out;
}

}  // namespace drift
