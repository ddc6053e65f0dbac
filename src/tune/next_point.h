#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "drift/tune.h"
#include "tune/gaussian_process.h"

namespace drift {

// The point to try next: that of the largest log expected improvement, by gradient search from several starts.
struct NextPointSearch {
  const SearchSpace& space;
  const GaussianProcess& process;             // over the space's cube
  double best = 0.0;                          // the value to improve on, as the process sees values
  Eigen::VectorXd best_place;                 // where that value is expected, in the space's cube
  const std::vector<Eigen::VectorXd>& taken;  // places tried or under way, not to be proposed again
  std::uint64_t seed = 0;
  std::uint32_t number = 0;  // of the trial that is proposed: part of the random key
};

// Its place in the cube, snapped. None when every point of a finite space is taken.
std::optional<Eigen::VectorXd> next_point(const NextPointSearch& search);

// A random point that is not taken, where there is no surrogate yet.
std::optional<Eigen::VectorXd> random_point(const SearchSpace& space, const std::vector<Eigen::VectorXd>& taken,
                                            std::uint64_t seed, std::uint32_t number);

bool is_taken(const Eigen::VectorXd& place, const std::vector<Eigen::VectorXd>& taken);

}  // namespace drift
