#include <gtest/gtest.h>

#include "drift/bench.h"
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

Case wide_on_sphere(int features, int spatial, double lengthscale, Frequencies frequencies, int temporal = 1) {
  Case a_case = wide(features, spatial, temporal, frequencies);
  a_case.name = "wide on the sphere";
  a_case.spec.space = Space::sphere;
  a_case.spec.space_coordinates = 3;
  a_case.spec.spatial.lengthscales = {lengthscale};
  return a_case;
}

// The first has low degrees alone, the last a mean of 200.
std::vector<Case> cases_on_sphere() {
  std::vector<Case> all = {
      wide_on_sphere(64, 1, 0.5, Frequencies::orthogonal), wide_on_sphere(200, 2, 0.05, Frequencies::structured),
      wide_on_sphere(130, 3, 0.1, Frequencies::orthogonal), wide_on_sphere(1000, 3, 0.05, Frequencies::structured)};
  all.push_back(wide_on_sphere(130, 2, 0.1, Frequencies::orthogonal, 0));
  all[1].weighted = true;
  all[1].recipe.loss = LossKind::huber;
  all[1].recipe.optimiser = Optimiser::muon;
  all[2].spec.skip = false;
  all[2].spec.spatial.hidden_amplitude = 0.25;
  all[3].spec.spatial.lengthscales = spherical_bench_spec(200.0).spatial.lengthscales;
  return all;
}

// Three coordinates in the cosines on the plane, four on the sphere.
std::vector<Case> cases_of_space_time() {
  std::vector<Case> all = {wide(200, 3, 1, Frequencies::structured), wide(64, 1, 1, Frequencies::orthogonal),
                           wide_on_sphere(1000, 4, 0.5, Frequencies::structured),
                           wide_on_sphere(130, 2, 0.3, Frequencies::orthogonal)};
  for (Case& a_case : all) {
    a_case.name += ", space and time in one chain";
    a_case.spec.coupling = Coupling::product;
  }
  all[2].weighted = true;
  all[2].recipe.optimiser = Optimiser::muon;
  return all;
}

std::vector<Case> wide_cases() {
  std::vector<Case> all = {wide(64, 1, 1, Frequencies::orthogonal),    wide(200, 2, 1, Frequencies::structured),
                           wide(1000, 4, 1, Frequencies::independent), wide(130, 2, 3, Frequencies::orthogonal),
                           wide(200, 1, 0, Frequencies::orthogonal),   wide(130, 3, 0, Frequencies::structured)};
  all[1].weighted = true;
  all[1].recipe.loss = LossKind::huber;
  all[1].recipe.optimiser = Optimiser::muon;
  all[5].recipe.optimiser = Optimiser::muon;
  for (Case& a_case : cases_on_sphere()) all.push_back(std::move(a_case));
  for (Case& a_case : cases_of_space_time()) all.push_back(std::move(a_case));
  return all;
}

class Fused : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Cuda, Fused, fused_precisions(), name_of_precision);

TEST(FusedPasses, FitThePapersNetworkAndTheDefault) {
  DRIFT_NEEDS_HOPPER();
  EXPECT_TRUE(FusedPasses::fit(make_plan(paper_spec(1, 1, 1)), {.backward = true}, Precision::tf32));
  EXPECT_TRUE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, true)), {.backward = true}, Precision::tf32));
  EXPECT_TRUE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, true)), {.backward = true}, Precision::bf16));
  EXPECT_FALSE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, true)), {.backward = true}, Precision::float32));
  EXPECT_TRUE(FusedPasses::fit(make_plan(default_spec(Space::plane, 2, false)), {.backward = true}, Precision::tf32));
  NetworkSpec two_outputs = default_spec(Space::plane, 2, true);
  two_outputs.outputs = 2;
  EXPECT_FALSE(FusedPasses::fit(make_plan(two_outputs), {.backward = true}, Precision::tf32));
  for (const Case& a_case : wide_cases()) {
    EXPECT_TRUE(FusedPasses::fit(make_plan(a_case.spec), {.backward = true}, Precision::tf32)) << a_case.name;
  }
}

TEST(FusedPasses, FitTheSphereWhereItsFeaturesFitHalves) {
  DRIFT_NEEDS_HOPPER();
  NetworkSpec spec = default_spec(Space::sphere, 3, true);
  EXPECT_TRUE(FusedPasses::fit(make_plan(spec), {.backward = true}, Precision::tf32)) << "it has no spherical features";
  spec.coupling = Coupling::additive;
  EXPECT_TRUE(FusedPasses::fit(make_plan(spec), {.backward = true}, Precision::tf32));
  EXPECT_TRUE(FusedPasses::fit(make_plan(default_spec(Space::sphere, 3, false)), {.backward = true}, Precision::tf32));
  spec.spatial.hidden_amplitude = 1e-3;
  EXPECT_FALSE(FusedPasses::fit(make_plan(spec), {.backward = true}, Precision::tf32));
}

TEST_P(Fused, PredictsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations points(a_case.spec, 301);
    const Ensemble ensemble = drawn(a_case);
    std::vector<float> here(points.count() * 3), there(here.size());
    for (const bool on_gpu : {true, false}) {
      const auto engine = on_gpu ? gpu(GetParam()) : cpu();
      engine->predict(ensemble, points.set(false).coordinates,
                      {.mean = {}, .variance = {}, .members = {(on_gpu ? here : there).data(), points.count(), 3}});
    }
    EXPECT_LT(distance(here, there), coarser(kTf32, GetParam())) << a_case.name << ", " << a_case.spec.features;
  }
}

// Points in plenty, so that blocks of threads take several pairs of row blocks, and the host several blocks of points.
TEST_P(Fused, PredictsTheSameBitsEveryTime) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : {wide(1000, 2, 1, Frequencies::structured), wide_on_sphere(1000, 3, 0.05, Frequencies::structured),
                             cases_of_space_time()[2]}) {
    const Observations points(a_case.spec, 40000);
    const Ensemble ensemble = drawn(a_case);
    const auto predicted = [&] {
      std::vector<float> out(points.count() * 3);
      gpu(GetParam())
          ->predict(ensemble, points.set(false).coordinates,
                    {.mean = {}, .variance = {}, .members = {out.data(), points.count(), 3}});
      return out;
    };
    const std::vector<float> first = predicted();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(predicted(), first) << a_case.name;
  }
}

// What PredictsAsTheCpuDoes can tell apart: the same network but for the poles of one layer.
TEST_P(Fused, PredictionsDependOnEveryLayersSphericalFeatures) {
  DRIFT_NEEDS_GPU();
  const Case a_case = cases_on_sphere()[1];
  const Observations points(a_case.spec, 301);
  const auto predicted = [&](const Ensemble& ensemble) {
    std::vector<float> out(points.count() * 3);
    gpu(GetParam())
        ->predict(ensemble, points.set(false).coordinates,
                  {.mean = {}, .variance = {}, .members = {out.data(), points.count(), 3}});
    return out;
  };
  const Ensemble ensemble = drawn(a_case);
  const Plan plan = make_plan(a_case.spec);
  for (const LayerPlan& layer : plan.layers) {
    if (!layer.sphere) continue;
    Ensemble turned = ensemble;
    for (Member& member : turned.members) {
      float* poles = member.fixed.data() + layer.poles;  // [3, features]
      std::swap_ranges(poles, poles + layer.features, poles + layer.features);
    }
    EXPECT_GT(distance(predicted(turned), predicted(ensemble)), 10 * coarser(kTf32, Precision::bf16)) << layer.name;
  }
}

// The plain passes, which round the same factors at the same places.
Trained plainly_trained(Precision precision, const Case& a_case, const Observations& observations, std::uint64_t steps) {
  FusedPasses::allowed = false;
  Trained result = trained(*gpu(precision), a_case, observations, {steps});
  FusedPasses::allowed = true;
  return result;
}

// Heavy-tailed frequencies magnify the rounding from layer to layer, so that a tolerance would have to be wide; the plain passes'
// distance from float32 says what it may be.
TEST_P(Fused, HasTheCpusGradients) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(GetParam()), a_case, observations, {1}), there = trained(*cpu(), a_case, observations, {1});
    const Trained plain = plainly_trained(GetParam(), a_case, observations, 1);
    const Plan plan = make_plan(a_case.spec);
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      EXPECT_NEAR(here.state.members[i].losses.at(0), there.state.members[i].losses.at(0),
                  coarser(kTf32, GetParam()) * there.state.members[i].losses.at(0));
      for (const TensorInfo& tensor : plan.parameter_tensors) {
        if (tensor.name == "hyper") continue;
        const auto part = [&](const Trained& all) {
          const auto begin = all.state.members[i].moment1.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
          return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(tensor.size()));
        };
        const double plain_distance = distance(part(plain), part(there));
        EXPECT_LT(plain_distance, coarser(0.05, GetParam()));
        EXPECT_LT(distance(part(here), part(there)), 1.6 * plain_distance + coarser(1e-3, GetParam()))
            << tensor.name << " of " << a_case.name << ", " << a_case.spec.features;
      }
    }
  }
}

TEST_P(Fused, TrainsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(GetParam()), a_case, observations, {12}),
                  there = trained(*cpu(), a_case, observations, {12});
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      EXPECT_LT(distance(here.state.members[i].losses, there.state.members[i].losses), coarser(2e-2, GetParam()));
    }
    const Trained again = trained(*gpu(GetParam()), a_case, observations, {5, 12});
    EXPECT_EQ(here.ensemble.members[1].parameters, again.ensemble.members[1].parameters);
    EXPECT_EQ(here.state.members[2].losses, again.state.members[2].losses);
  }
}

// Both round to tf32; what little they differ by grows with the steps.
TEST_P(Fused, TrainsOnTheSphereAsThePlainPassesDo) {
  DRIFT_NEEDS_GPU();
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    Case a_case = cases_on_sphere()[1];
    a_case.recipe.optimiser = optimiser;
    a_case.recipe.epochs = 70;
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(GetParam()), a_case, observations, {200});
    const Trained plain = plainly_trained(GetParam(), a_case, observations, 200);
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      const std::vector<float>& losses = here.state.members[i].losses;
      if (most_steps() >= 200) {
        EXPECT_LT(losses.back(), 0.5F * losses.front());
      }
      EXPECT_LT(distance(losses, plain.state.members[i].losses), coarser(2e-2, GetParam()));
    }
  }
}

}  // namespace
}  // namespace drift::cuda
