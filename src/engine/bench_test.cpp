#include "drift/bench.h"

#include <gtest/gtest.h>

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

TEST(GemmSpeed, IsMeasuredAndNamed) {
  EXPECT_GT(gemm_gflops(1, 256), 0.1);
  EXPECT_GT(std::string(gemm_library_name()).size(), 3u);
  EXPECT_THROW(gemm_gflops(0), UsageError);
}

}  // namespace
}  // namespace drift
