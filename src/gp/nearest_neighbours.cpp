#include "gp/nearest_neighbours.h"

#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/random.h"

namespace drift::gp {
namespace {

using Eigen::Index;

// Points by columns, as nanoflann reads them. The names are those it asks for.
struct Cloud {
  Eigen::MatrixXd points;
  const Control* building = nullptr;  // while the tree is built, which asks for all points again and again
  mutable std::size_t reads = 0;

  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points.cols()); }
  double kdtree_get_pt(std::size_t i, std::size_t d) const {
    constexpr std::size_t kBetweenChecks = std::size_t{1} << 20;  // some milliseconds
    if (building != nullptr && ++reads % kBetweenChecks == 0) building->check_stop();
    return points(static_cast<Index>(d), static_cast<Index>(i));
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

// All rows nearer than a distance, in no order: what a search of nanoflann fills. The names are those it asks for.
struct RowsWithin {
  using DistanceType = double;
  double square;  // of the distance
  std::vector<Index>& rows;

  std::size_t size() const { return rows.size(); }
  bool full() const { return true; }
  double worstDist() const { return square; }          // NOLINT(readability-identifier-naming)
  bool addPoint(double distance_squared, Index row) {  // NOLINT(readability-identifier-naming)
    if (distance_squared < square) rows.push_back(row);
    return true;  // go on
  }
  void sort() {}
};

class AnyTree {
 public:
  virtual ~AnyTree() = default;
  virtual std::size_t nearest(const double* point, std::size_t k, Index* out, double* squares) const = 0;
  virtual void within(const double* point, double square, std::vector<Index>& out) const = 0;
};

// The number of dimensions is known when compiling, where it is a usual one: twice as fast.
template <int kDimensions>
class TreeOf : public AnyTree {
 public:
  explicit TreeOf(const Cloud& cloud)
      : tree_(static_cast<int>(cloud.points.rows()), cloud, nanoflann::KDTreeSingleIndexAdaptorParams(12)) {}

  std::size_t nearest(const double* point, std::size_t k, Index* out, double* squares) const override {
    nanoflann::KNNResultSet<double, Index> found(k);
    found.init(out, squares);
    tree_.findNeighbors(found, point, {});
    return found.size();
  }

  void within(const double* point, double square, std::vector<Index>& out) const override {
    RowsWithin found{square, out};
    tree_.findNeighbors(found, point, {});
  }

 private:
  nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, kDimensions, Index> tree_;
};

std::unique_ptr<AnyTree> make_tree(const Cloud& cloud) {
  switch (cloud.points.rows()) {
    case 2:
      return std::make_unique<TreeOf<2>>(cloud);
    case 3:
      return std::make_unique<TreeOf<3>>(cloud);
    case 4:
      return std::make_unique<TreeOf<4>>(cloud);
    default:
      return std::make_unique<TreeOf<-1>>(cloud);
  }
}

// Mixes a lattice index into a hash (a step of splitmix64). Two cells in one of 2^64 places would only be thinned as one.
std::uint64_t mixed(std::uint64_t hash, double cell) {
  hash += 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(static_cast<std::int64_t>(cell));
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBULL;
  return hash ^ (hash >> 31U);
}

// The first of each cell in the order; ascending, which keeps together in memory what lies together.
std::vector<Index> one_of_each_cell(const Eigen::MatrixXd& points, const std::vector<Index>& order, double side) {
  const std::vector<Index> cells = cells_of(points, side);
  std::vector<bool> seen(cells.size());
  std::vector<Index> rows;
  for (const Index row : order) {
    const auto cell = static_cast<std::size_t>(cells[static_cast<std::size_t>(row)]);
    if (!seen[cell]) rows.push_back(row);
    seen[cell] = true;
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

std::vector<Index> random_order(Index n, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  RandomStream random({.seed = seed, .purpose = Purpose::split});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  }
  return order;
}

std::vector<Index> cells_of(const Eigen::MatrixXd& points, double side) {
  std::unordered_map<std::uint64_t, Index> known;
  std::vector<Index> out(static_cast<std::size_t>(points.cols()));
  for (Index i = 0; i < points.cols(); ++i) {
    std::uint64_t hash = 0;
    for (Index d = 0; d < points.rows(); ++d) {
      // Lattice indices beyond 1e15 would leave the integers; there all is one cell.
      hash = mixed(hash, std::clamp(std::floor(points(d, i) / side), -1e15, 1e15));
    }
    out[static_cast<std::size_t>(i)] = known.emplace(hash, static_cast<Index>(known.size())).first->second;
  }
  return out;
}

struct NeighbourTree::Tree {
  Cloud cloud;
  std::vector<Index> rows;
  std::unique_ptr<AnyTree> tree;
};

NeighbourTree::NeighbourTree(Eigen::MatrixXd points, std::vector<Index> rows, const Control& control)
    : tree_(std::make_unique<Tree>()) {
  tree_->cloud.points = std::move(points);
  tree_->rows = std::move(rows);
  if (tree_->cloud.points.cols() == 0) return;
  tree_->cloud.building = &control;
  tree_->tree = make_tree(tree_->cloud);
  tree_->cloud.building = nullptr;
}

NeighbourTree::~NeighbourTree() = default;
NeighbourTree::NeighbourTree(NeighbourTree&&) noexcept = default;
NeighbourTree& NeighbourTree::operator=(NeighbourTree&&) noexcept = default;

const Eigen::MatrixXd& NeighbourTree::points() const { return tree_->cloud.points; }

void NeighbourTree::find(const double* point, std::size_t k, std::vector<Index>& out) const {
  out.resize(std::min(k, static_cast<std::size_t>(tree_->cloud.points.cols())));
  if (out.empty()) return;
  std::vector<double> squares(out.size());
  out.resize(tree_->tree->nearest(point, out.size(), out.data(), squares.data()));
  if (tree_->rows.empty()) return;
  for (Index& row : out) row = tree_->rows[static_cast<std::size_t>(row)];
}

void NeighbourTree::within(const double* point, double distance, std::vector<Index>& out) const {
  out.clear();
  if (tree_->tree) tree_->tree->within(point, distance * distance, out);
  if (tree_->rows.empty()) return;
  for (Index& row : out) row = tree_->rows[static_cast<std::size_t>(row)];
}

namespace {

NeighbourTree thinned_tree(const Eigen::MatrixXd& points, const std::vector<Index>& order, const Thinning& thinning) {
  std::vector<Index> rows;
  if (thinning.share > 0.0) rows = one_of_each_cell(points, order, thinning.side);
  Eigen::MatrixXd kept = points(Eigen::all, rows);
  return NeighbourTree(std::move(kept), std::move(rows));
}

}  // namespace

NeighbourFinder::NeighbourFinder(Eigen::MatrixXd points, const std::vector<Index>& order, const Thinning& thinning)
    : share_(thinning.share), thinned_(thinned_tree(points, order, thinning)), all_(std::move(points)) {}

void NeighbourFinder::find(const double* point, std::size_t k, std::vector<Index>& out) const {
  thinned_.find(point, static_cast<std::size_t>(share_ * static_cast<double>(k)), out);
  std::vector<Index> nearest;
  all_.find(point, k, nearest);
  for (const Index row : nearest) {
    if (out.size() >= nearest.size()) break;
    if (std::find(out.begin(), out.end(), row) == out.end()) out.push_back(row);
  }
}

}  // namespace drift::gp
