#include <gtest/gtest.h>

#include "tune/tune_testing.h"

namespace drift {
namespace {

struct Outcome {
  double found;   // median over ten seeds of the best value
  double random;  // the same of as many places drawn at random
};

Outcome compare(const SearchSpace& space, double (*f)(const Point&), int trials, std::size_t parallel, bool rounds = false) {
  std::vector<double> found;
  std::vector<double> random;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SearchOptions options;
    options.trials = trials;
    found.push_back(best_value(optimise(space, plain(f), {.seed = seed, .parallel = parallel, .rounds = rounds}, options)));
    random.push_back(random_search(space, f, trials, seed));
  }
  testing::Test::RecordProperty("found", std::to_string(median(found)));
  testing::Test::RecordProperty("random", std::to_string(median(random)));
  return {.found = median(found), .random = median(random)};
}

TEST(Optimise, BraninToFiveHundredthsInThirtyTrials) {
  const Outcome outcome = compare(branin_space(), branin, 30, 1);
  EXPECT_LT(outcome.found - kBraninMinimum, 0.05);
  EXPECT_GT(outcome.random - kBraninMinimum, 1.0);
}

TEST(Optimise, BraninWithFourTrialsAtOnce) {
  const Outcome outcome = compare(branin_space(), branin, 30, 4);
  EXPECT_LT(outcome.found - kBraninMinimum, 0.05);
}

// Published for 200 evaluations over ten seeds: scikit-optimize's means are -2.974, -3.111 and -3.128 by its three methods (its
// benchmarks/RESULTS.md, after Eggensperger et al., "Towards an empirical foundation for assessing Bayesian optimization of
// hyperparameters", 2013). Sixty evaluations must do better here: past the second lowest minimum, -3.203, to the lowest, -3.322.
TEST(Optimise, HartmannInSixtyTrialsAtTheLevelOfMatureOptimisers) {
  const Outcome outcome = compare(hartmann_space(), hartmann, 60, 1);
  EXPECT_LT(outcome.found, -3.21);
  EXPECT_GT(outcome.random, -2.7);
}

// What a GPU does; docs/verbs/tune.md has the figures for other sizes.
TEST(Optimise, BraninInRoundsOfFive) {
  const Outcome outcome = compare(branin_space(), branin, 30, 5, true);
  EXPECT_LT(outcome.found - kBraninMinimum, 0.05);
}

TEST(Optimise, HartmannInRoundsOfFive) {
  const Outcome outcome = compare(hartmann_space(), hartmann, 60, 5, true);
  EXPECT_LT(outcome.found, -3.1);
}

TEST(Optimise, HartmannWithFourTrialsAtOnce) {
  const Outcome outcome = compare(hartmann_space(), hartmann, 60, 4);
  EXPECT_LT(outcome.found, -3.1);
}

}  // namespace
}  // namespace drift
