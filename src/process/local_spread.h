#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "process/kriging.h"

namespace drift {

// Where the field is more energetic than elsewhere, a process errs by more than its covariance says, which is the same
// everywhere: sea level in western boundary currents, waves in storms. Kriging's weights depend on ratios of variances only, so a
// sill and errors that grow and shrink together, slowly against the lengthscales, change no mean; the variance at a point is
// multiplied by
//
//   s^2 = (sum_g c_g e_g^2 + prior) / (sum_g c_g + prior),
//
// over the groups g that the point is predicted from. e_g^2 is the mean squared error of forecasts out of fold of the group's
// observations over their variance, in units of its mean over all groups, and c_g the group's share (1, less where it fades). The
// prior is worth so many groups of the average, 1.
struct LocalSpread {
  std::vector<float> surprise;  // [groups] e_g^2; negative: none of its observations was forecast
  double prior = 0.0;           // 0: the spread is the same everywhere

  double at(const Neighbourhood& near) const;
};

// What forecasts out of fold tell: rows are observations, in any order.
struct SpreadEvidence {
  std::span<const std::uint32_t> place;         // [rows] the group of places that the observation belongs to
  std::span<const double> square;               // [rows] squared error over the predicted variance of an observation
  std::span<const std::uint32_t> cluster = {};  // [rows] track or block; empty: each row by itself
};

// The surprise of each group. Errors count as four standard deviations at most: an outlier says little of its neighbours.
std::vector<float> surprises(const SpreadEvidence& evidence, std::size_t groups);

// Over a neighbourhood: sums of c_g e_g^2 and c_g.
struct SurpriseSum {
  double square = 0.0, weight = 0.0;
  double with(double prior) const { return (square + prior) / (weight + prior); }
};
SurpriseSum sum_of(std::span<const float> surprise, const Neighbourhood& near);

// The prior under which observations are most likely given the surprises around them, `around` [rows], of other folds. 0 unless
// the gain over an even spread is larger than three times its standard error, errors of one cluster counting as one.
double fit_prior(const SpreadEvidence& evidence, std::span<const SurpriseSum> around);

}  // namespace drift
