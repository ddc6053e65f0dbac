#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "drift/control.h"

namespace drift::gp {

// The nearest of some points by a k-d tree.
class NeighbourTree {
 public:
  // points [dimensions, n], divided by lengthscales. `rows` [n], if any, are the indices to report. Throws Stopped: millions of
  // points take seconds.
  explicit NeighbourTree(Eigen::MatrixXd points, std::vector<Eigen::Index> rows = {}, const Control& control = {});
  ~NeighbourTree();
  NeighbourTree(const NeighbourTree&) = delete;
  NeighbourTree& operator=(const NeighbourTree&) = delete;
  NeighbourTree(NeighbourTree&&) noexcept;
  NeighbourTree& operator=(NeighbourTree&&) noexcept;

  // min(k, n) of them, nearest first. Safe from several threads.
  void find(const double* point, std::size_t k, std::vector<Eigen::Index>& out) const;
  // All within a distance, in no particular order.
  void within(const double* point, double distance, std::vector<Eigen::Index>& out) const;
  const Eigen::MatrixXd& points() const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

// A random order of n observations.
std::vector<Eigen::Index> random_order(Eigen::Index n, std::uint64_t seed);

// The cell of a lattice of this side that each point lies in: 0, 1, ... by first appearance. [n]
std::vector<Eigen::Index> cells_of(const Eigen::MatrixXd& points, double side);

// The observations that a point is predicted from. Along tracks the k nearest lie side by side on one track and say the same
// thing k times over. So most of them are the nearest of a thinning, which keeps one observation of each cell; they lie further
// out, and on other tracks. Any choice gives an honest prediction; this one a good one (nearest_test.cpp).
struct Thinning {
  double share = 0.75;  // [0, 1] of the neighbours that come from the thinning; 0: all are the nearest
  double side = 0.3;    // of a cell, in lengthscales
};

class NeighbourFinder {
 public:
  // points as above; order says which observation of a cell is kept.
  NeighbourFinder(Eigen::MatrixXd points, const std::vector<Eigen::Index>& order, const Thinning& thinning);

  // min(k, n) distinct indices, those of the thinning first. Safe from several threads.
  void find(const double* point, std::size_t k, std::vector<Eigen::Index>& out) const;
  const Eigen::MatrixXd& points() const { return all_.points(); }

 private:
  double share_;
  NeighbourTree thinned_;
  NeighbourTree all_;
};

}  // namespace drift::gp
