#include <gtest/gtest.h>

#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused_passes.h"
#include "network/plan.h"

namespace drift::cuda {
namespace {

// Factors of 11 bits: each layer's phases, features and gradients carry 2^-12 or so of each term.
constexpr double kTf32 = 4e-3;

Case wide(int features, int spatial, int temporal, Frequencies frequencies) {
  Case a_case{.name = "wide", .spec = small(Space::plane, spatial, temporal, 0), .recipe = short_recipe()};
  a_case.spec.features = features;
  a_case.spec.bottleneck = 128;
  a_case.spec.frequencies = frequencies;
  return a_case;
}

std::vector<Case> wide_cases() {
  std::vector<Case> all = {wide(64, 1, 1, Frequencies::orthogonal), wide(200, 2, 1, Frequencies::structured),
                           wide(1000, 4, 1, Frequencies::independent), wide(130, 2, 3, Frequencies::orthogonal)};
  all[1].weighted = true;
  all[1].recipe.loss = LossKind::huber;
  all[1].recipe.optimiser = Optimiser::muon;
  return all;
}

bool on_hopper() { return why_no_cuda().empty() && is_hopper(); }

TEST(Fused, FitsThePapersNetworkAndTheDefault) {
  DRIFT_NEEDS_GPU();
  if (!on_hopper()) GTEST_SKIP() << "not a Hopper";
  EXPECT_TRUE(FusedPasses::fit(make_plan(paper_spec(1, 1, 1)), {.backward = true}, Precision::tf32));
  EXPECT_TRUE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, true)), {.backward = true}, Precision::tf32));
  EXPECT_FALSE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, true)), {.backward = true}, Precision::float32));
  EXPECT_FALSE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, false)), {.backward = true}, Precision::tf32));
}

TEST(Fused, PredictsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations points(a_case.spec, 301);
    const Ensemble ensemble = drawn(a_case);
    std::vector<float> here(points.count() * 3), there(here.size());
    for (const bool on_gpu : {true, false}) {
      const auto engine = on_gpu ? gpu(Precision::tf32) : cpu();
      engine->predict(ensemble, points.set(false).coordinates,
                      {.mean = {}, .variance = {}, .members = {(on_gpu ? here : there).data(), points.count(), 3}});
    }
    EXPECT_LT(distance(here, there), kTf32) << a_case.spec.features;
  }
}

// The plain passes in tf32, which round the same factors at the same places.
Trained plainly_trained(const Case& a_case, const Observations& observations, std::uint64_t steps) {
  FusedPasses::allowed = false;
  Trained result = trained(*gpu(Precision::tf32), a_case, observations, {steps});
  FusedPasses::allowed = true;
  return result;
}

// Heavy-tailed frequencies magnify the rounding from layer to layer, so that a tolerance would have to be wide; the plain passes'
// distance from float32 says what it may be.
TEST(Fused, HasTheCpusGradients) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(Precision::tf32), a_case, observations, {1}),
                  there = trained(*cpu(), a_case, observations, {1});
    const Trained plain = plainly_trained(a_case, observations, 1);
    const Plan plan = make_plan(a_case.spec);
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      EXPECT_NEAR(here.state.members[i].losses.at(0), there.state.members[i].losses.at(0),
                  kTf32 * there.state.members[i].losses.at(0));
      for (const TensorInfo& tensor : plan.parameter_tensors) {
        if (tensor.name == "hyper") continue;
        const auto part = [&](const Trained& all) {
          const auto begin = all.state.members[i].moment1.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
          return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tensor.size()));
        };
        const double plain_distance = distance(part(plain), part(there));
        EXPECT_LT(plain_distance, 0.05);
        EXPECT_LT(distance(part(here), part(there)), 1.6 * plain_distance + 1e-3)
            << tensor.name << " of " << a_case.spec.features;
      }
    }
  }
}

TEST(Fused, TrainsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(Precision::tf32), a_case, observations, {12}),
                  there = trained(*cpu(), a_case, observations, {12});
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      EXPECT_LT(distance(here.state.members[i].losses, there.state.members[i].losses), 2e-2);
    }
    const Trained again = trained(*gpu(Precision::tf32), a_case, observations, {5, 12});
    EXPECT_EQ(here.ensemble.members[1].parameters, again.ensemble.members[1].parameters);
    EXPECT_EQ(here.state.members[2].losses, again.state.members[2].losses);
  }
}

}  // namespace
}  // namespace drift::cuda
