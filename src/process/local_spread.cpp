#include "process/local_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace drift {
namespace {

constexpr double kMost = 16.0;                                                  // of a squared error over the mean one
constexpr std::array<double, 6> kPriors = {2.0, 5.0, 12.0, 30.0, 75.0, 190.0};  // groups
constexpr double kSure = 3.0;            // standard errors, since the best of several priors is taken
constexpr double kStudentDegrees = 6.0;  // of Student's t, as in fit_process.cpp

double mean_square(std::span<const double> squares) {
  if (squares.empty()) return 1.0;
  const auto n = static_cast<double>(squares.size());
  const double all = std::accumulate(squares.begin(), squares.end(), 0.0) / n;
  double sum = 0.0;
  for (const double square : squares) sum += std::min(square, kMost * all);
  return std::max(sum / n, 1e-12);
}

// -log of Student's density of variance s2, at a squared error.
double surprisal(double square, double s2) {
  return 0.5 * std::log(s2) + 0.5 * (kStudentDegrees + 1.0) * std::log1p(square / ((kStudentDegrees - 2.0) * s2));
}

}  // namespace

double LocalSpread::at(const Neighbourhood& near) const { return prior > 0.0 ? sum_of(surprise, near).with(prior) : 1.0; }

std::vector<float> surprises(const SpreadEvidence& evidence, std::size_t groups) {
  const double mean = mean_square(evidence.square);
  std::vector<double> sum(groups, 0.0), count(groups, 0.0);
  for (std::size_t i = 0; i < evidence.square.size(); ++i) {
    sum[evidence.place[i]] += std::min(evidence.square[i] / mean, kMost), count[evidence.place[i]] += 1.0;
  }
  std::vector<float> out(groups);
  for (std::size_t g = 0; g < groups; ++g) out[g] = count[g] > 0.0 ? static_cast<float>(sum[g] / count[g]) : -1.0F;
  return out;
}

SurpriseSum sum_of(std::span<const float> surprise, const Neighbourhood& near) {
  SurpriseSum sum;
  for (const auto& [group, share] : near.groups) {
    if (surprise[group] < 0.0F) continue;
    sum.square += share * static_cast<double>(surprise[group]);
    sum.weight += share;
  }
  return sum;
}

double fit_prior(const SpreadEvidence& evidence, std::span<const SurpriseSum> around) {
  const std::size_t n = evidence.square.size();
  if (n == 0) return 0.0;
  const double mean = mean_square(evidence.square);
  const std::size_t clusters =
      evidence.cluster.empty() ? n : *std::max_element(evidence.cluster.begin(), evidence.cluster.end()) + std::size_t{1};
  double best = 0.0, best_gain = 0.0;
  for (const double prior : kPriors) {
    std::vector<double> gain(clusters, 0.0), rows(clusters, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cluster = evidence.cluster.empty() ? i : evidence.cluster[i];
      const double square = evidence.square[i] / mean;
      gain[cluster] += surprisal(square, 1.0) - surprisal(square, around[i].with(prior));
      rows[cluster] += 1.0;
    }
    const double per_row = std::accumulate(gain.begin(), gain.end(), 0.0) / static_cast<double>(n);
    double squares = 0.0;
    for (std::size_t c = 0; c < clusters; ++c) squares += std::pow(gain[c] - per_row * rows[c], 2);
    if (per_row > best_gain && per_row > kSure * std::sqrt(squares) / static_cast<double>(n)) best = prior, best_gain = per_row;
  }
  return best;
}

}  // namespace drift
