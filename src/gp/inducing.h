#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "gp/kernel.h"

namespace drift::gp {

// Initial inducing points.
struct InducingOptions {
  std::size_t count = 1000;
  bool kmeans = true;  // k-means++ (Arthur & Vassilvitskii 2007) and a few of Lloyd's steps; else at observations by chance
  int lloyd_steps = 3;
  std::uint64_t seed = 1;
  int sphere_first = -1;  // the first of three coordinates that are a unit vector, and stay one; -1: none
  int threads = 1;
};

// [D, at most count] among candidates [D, n], whose distances are taken with each coordinate divided by lengthscales [D]. No two
// points coincide: where fewer than `count` candidates differ, fewer points come back.
Eigen::MatrixXd choose_inducing(Points candidates, const Eigen::VectorXd& lengthscales, const InducingOptions& options);

// Number of observations, chosen by their key, from which to choose `count` points.
std::size_t inducing_candidates(std::size_t count, std::size_t observations);

}  // namespace drift::gp
