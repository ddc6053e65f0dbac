#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace drift {

// Noise that a member's values get on top of their own, the same in every epoch: each member is trained on y + sd eps.
//
// Members that all see the same values agree on the noise they have learnt from them, and their spread lacks it. With noise of
// their own, of the size the observations have, they disagree on it as much as they would on other observations of the same
// field: for a model linear in its weights the spread is that of the posterior, as far as the values rather than the prior
// decide (Papandreou & Yuille 2010; Matthews et al. 2017, "Sample-then-optimize posterior sampling").
//
// The loss that the mean over members would suffer is removed. The noises of each group of five members sum to zero,
//   eps_m = sqrt(5/4) (z_m - (z_1 + ... + z_5) / 5),   z ~ N(0, 1), so that eps ~ N(0, 1),
// and the mean of five, or ten, sees the values as they are. The variance between members, divided by their number less one, is
// larger for it than that of independent noises: by a quarter for five members, a ninth for ten, less and less for more.
class ValueNoise {
 public:
  static constexpr std::uint32_t kTogether = 5;

  // sd: of an observation of weight one, in units of the values.
  ValueNoise(double sd, std::uint64_t seed, std::uint32_t member) : sd_(sd), seed_(seed), member_(member) {}

  // eps, a function of (seed, member, observation, output) alone:
  //   words = Philox(counter [observation mod 2^32, observation / 2^32 * 4 + block, member / 5, output << 16 | purpose], key
  //   seed)
  // for the blocks 0 and 1 gives z, four numbers a block by Box-Muller, of 23 bits as those of a training step.
  double eps(std::uint64_t observation, std::size_t output) const;

  // values += sd eps / sqrt(weight): under a loss times weight an observation counts as one with noise smaller by that root.
  // values: [outputs] of the observation. Without weight it does not count, and stays.
  void add(std::uint64_t observation, double weight, std::span<float> values) const;

 private:
  double sd_;
  std::uint64_t seed_;
  std::uint32_t member_;
};

}  // namespace drift
