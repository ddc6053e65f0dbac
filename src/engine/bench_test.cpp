#include "drift/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "drift/error.h"
#include "features/spherical.h"

namespace drift {
namespace {

TEST(DenseFlops, OfThePapersNetworkAreThoseCountedByHand) {
  const NetworkSpec spec = paper_spec(1.0, 1.0, 1.0);  // L = 4 with skips, H = 1000, B = 128, one temporal layer
  // Multiply-adds in thousands. Forward: five bottlenecks, three hidden inputs of 128, four times two coordinates and one time.
  const double forward = 5 * 128 + 3 * 128 + 4 * 2 + 1 + 0.256;
  // Backward: five bottlenecks' gradients, three layers' features and hidden inputs, the head's weights and inputs.
  const double backward = 5 * 128 + 3 * 128 + 3 * 128 + 2 * 0.256;
  EXPECT_DOUBLE_EQ(prediction_flops(spec), 2e3 * forward);
  EXPECT_DOUBLE_EQ(training_flops(spec), 2e3 * (forward + backward));
  EXPECT_NEAR(training_flops(spec), 4.9e6, 0.05e6);
}

TEST(DenseFlops, CountNoHeadWhereTheFeaturesGiveTheOutput) {
  NetworkSpec spec = paper_spec(1.0, 1.0, 1.0);
  spec.temporal.layers = 0;
  spec.spatial.layers = 1;
  EXPECT_DOUBLE_EQ(prediction_flops(spec), 2.0 * (1000 * 2 + 1000));
  EXPECT_DOUBLE_EQ(training_flops(spec), 2.0 * (1000 * 2 + 1000 + 1000));
}

TEST(SphericalBenchSpec, HasTheMeanDegreeAskedFor) {
  for (double degree : {20.0, 200.0}) {
    const NetworkSpec spec = spherical_bench_spec(degree);
    EXPECT_EQ(spec.space, Space::sphere);
    const SphericalSpectrum spectrum(spec.spatial.covariance, spec.spatial.lengthscales[0], spec.sphere_tail_mass,
                                     spec.sphere_max_degree);
    EXPECT_NEAR(spectrum.mean_degree(), degree, 0.02 * degree);
  }
  EXPECT_THROW(spherical_bench_spec(1e6), UsageError);
}

TEST(PeakMemory, GrowsByWhatIsTouched) {
  const double before = peak_rss_mib();
  std::vector<char> block(400 << 20, 1);
  EXPECT_EQ(block[block.size() / 2], 1);
  EXPECT_GE(peak_rss_mib(), before + 100.0);
}

// A machine whose clock is made up: a call takes 0.06 s besides its steps of 0.35 ms, and every fifth one is held up.
class MadeUpCalls {
 public:
  static constexpr double kStep = 0.35e-3, kCopies = 0.06;

  double operator()(std::size_t steps) {
    longest_ = std::max(longest_, steps);
    all_steps_ += static_cast<double>(steps);
    const double held_up = ++calls_ % 5 == 0 ? 0.3 : 0.0;
    const double taken = kCopies + kStep * static_cast<double>(steps) + held_up;
    all_seconds_ += taken;
    return taken;
  }

  std::size_t longest() const { return longest_; }
  double mean_step() const { return all_seconds_ / all_steps_; }

 private:
  int calls_ = 0;
  std::size_t longest_ = 0;
  double all_steps_ = 0.0, all_seconds_ = 0.0;
};

TEST(StepTiming, TellsStepsFromWhatACallTakesBesides) {
  MadeUpCalls calls;
  const StepTiming timing = time_steps(20.0, [&](std::size_t steps) { return calls(steps); });
  EXPECT_NEAR(timing.step_s, MadeUpCalls::kStep, 1e-9);
  EXPECT_NEAR(timing.copies_s, MadeUpCalls::kCopies, 1e-9);
  EXPECT_GE(timing.seconds, 20.0);
  EXPECT_GT(calls.mean_step(), 1.2 * MadeUpCalls::kStep) << "else this machine would deceive nobody";
}

TEST(StepTiming, TakesFivePairsAndHalfASecondOfStepsHoweverLittleIsAskedFor) {
  MadeUpCalls calls;
  const StepTiming timing = time_steps(1e-3, [&](std::size_t steps) { return calls(steps); });
  EXPECT_EQ(timing.pairs, 5u);
  EXPECT_GE(MadeUpCalls::kStep * static_cast<double>(calls.longest()), 0.5);
  EXPECT_GT(timing.steps, 5 * calls.longest() / 2);
}

TEST(GemmSpeed, IsMeasuredAndNamed) {
  EXPECT_GT(gemm_gflops(1, 256), 0.1);
  EXPECT_GT(std::string(gemm_library_name()).size(), 3u);
  EXPECT_THROW(gemm_gflops(0), UsageError);
}

}  // namespace
}  // namespace drift
