#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "drift/error.h"
#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/trainer.h"
#include "network/plan.h"

namespace drift::cuda {
namespace {

// Float32 on both sides: a gradient is a sum of up to 700 x 75 rounded terms, in another order.
constexpr double kGradient = 3e-5;
// After 200 steps rounding has grown with the training: seen is 1e-5 to 2e-4.
constexpr double kAfter200Steps = 2e-3;
constexpr double kPrediction = 2e-5;

void expect_same_bits(const Trained& a, const Trained& b) {
  for (std::size_t i = 0; i < a.ensemble.members.size(); ++i) {
    EXPECT_EQ(a.ensemble.members[i].parameters, b.ensemble.members[i].parameters);
    EXPECT_EQ(a.ensemble.members[i].log_sd, b.ensemble.members[i].log_sd);
    EXPECT_EQ(a.state.members[i].moment1, b.state.members[i].moment1);
    EXPECT_EQ(a.state.members[i].moment2, b.state.members[i].moment2);
    EXPECT_EQ(a.state.members[i].losses, b.state.members[i].losses);
    EXPECT_EQ(a.state.members[i].step, b.state.members[i].step);
  }
}

std::vector<float> predictions(Engine& engine, const Ensemble& ensemble, const Observations& points) {
  std::vector<float> out(points.count() * points.outputs * ensemble.members.size());
  engine.predict(ensemble, points.set(false).coordinates,
                 {.mean = {}, .variance = {}, .members = {out.data(), points.count(), points.outputs * ensemble.members.size()}});
  return out;
}

class EveryCase : public testing::TestWithParam<Case> {};

// After one step Adam's first moment is a tenth of the gradient, Muon's momentum the gradient itself.
TEST_P(EveryCase, HasTheCpusGradients) {
  DRIFT_NEEDS_GPU();
  const Observations observations(GetParam().spec, 1500);
  const Trained here = trained(*gpu(), GetParam(), observations, {1}), there = trained(*cpu(), GetParam(), observations, {1});
  const Plan plan = make_plan(GetParam().spec);
  for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
    EXPECT_NEAR(here.state.members[i].losses.at(0), there.state.members[i].losses.at(0),
                1e-5 * there.state.members[i].losses.at(0));
    for (const TensorInfo& tensor : plan.parameter_tensors) {
      if (tensor.name == "hyper" && !GetParam().recipe.train_lengthscales) continue;
      for (const std::size_t first : {tensor.offset, plan.parameter_size + tensor.offset}) {
        if (first + tensor.size() > here.state.members[i].moment1.size()) continue;
        const auto part = [&](const std::vector<float>& all) {
          return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                    all.begin() + static_cast<std::ptrdiff_t>(first + tensor.size()));
        };
        EXPECT_LT(distance(part(here.state.members[i].moment1), part(there.state.members[i].moment1)), kGradient) << tensor.name;
      }
    }
  }
}

TEST_P(EveryCase, TrainsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  const Observations observations(GetParam().spec, 1500);
  const Trained here = trained(*gpu(), GetParam(), observations, {12}), there = trained(*cpu(), GetParam(), observations, {12});
  for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
    EXPECT_LT(distance(here.state.members[i].losses, there.state.members[i].losses), kAfter200Steps);
    EXPECT_LT(distance(here.ensemble.members[i].parameters, there.ensemble.members[i].parameters), kAfter200Steps);
    if (GetParam().variational) {
      EXPECT_LT(distance(here.ensemble.members[i].log_sd, there.ensemble.members[i].log_sd), kAfter200Steps);
    }
  }
}

TEST_P(EveryCase, PredictsAndDifferentiatesAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  const Observations points(GetParam().spec, 301);
  const Ensemble ensemble = drawn(GetParam());
  EXPECT_LT(distance(predictions(*gpu(), ensemble, points), predictions(*cpu(), ensemble, points)), kPrediction);
  const std::size_t columns = points.columns * points.outputs, inputs = head_input_count(GetParam().spec);
  std::vector<float> here(points.count() * columns), there(here.size()), here_inputs(points.count() * inputs),
      there_inputs(here_inputs.size());
  for (const bool on_gpu : {true, false}) {
    const auto engine = on_gpu ? gpu() : cpu();
    engine->input_gradient(ensemble, points.set(false).coordinates, {(on_gpu ? here : there).data(), points.count(), columns});
    engine->head_inputs(ensemble, 1, points.set(false).coordinates,
                        {(on_gpu ? here_inputs : there_inputs).data(), points.count(), inputs});
  }
  EXPECT_LT(distance(here, there), 10 * kPrediction);
  EXPECT_LT(distance(here_inputs, there_inputs), kPrediction);
}

// Of every member, block by block, without bringing the weights to the device again.
TEST_P(EveryCase, PreparedGivesTheHeadInputsOfEveryMember) {
  DRIFT_NEEDS_GPU();
  const Observations points(GetParam().spec, 301);
  const Ensemble ensemble = drawn(GetParam());
  const std::size_t inputs = head_input_count(GetParam().spec), n = points.count(), members = ensemble.members.size();
  const auto engine = gpu();
  const auto prepared = engine->prepare(ensemble);
  std::vector<float> all(n * members * inputs), one(n * inputs);
  const MatrixView<const float> coordinates = points.set(false).coordinates;
  for (const auto& [first, rows] : {std::pair<std::size_t, std::size_t>{0, 200}, {200, n - 200}}) {
    prepared->head_inputs(coordinates.middle_rows(first, rows), {all.data() + first * members * inputs, rows, members * inputs});
  }
  for (std::size_t member = 0; member < members; ++member) {
    engine->head_inputs(ensemble, member, coordinates, {one.data(), n, inputs});
    std::vector<float> same;
    for (std::size_t row = 0; row < n; ++row) {
      const float* from = all.data() + (members * row + member) * inputs;
      same.insert(same.end(), from, from + inputs);
    }
    EXPECT_LT(distance(same, one), kPrediction) << member;
  }
}

// Blocks of several sizes, with and without each member's own: what is kept between calls must not show.
TEST_P(EveryCase, PreparedPredictsTheBitsOfOneCall) {
  DRIFT_NEEDS_GPU();
  const Observations points(GetParam().spec, 301);
  const Ensemble ensemble = drawn(GetParam());
  const std::size_t outputs = points.outputs, all = outputs * ensemble.members.size(), slopes = points.columns * outputs;
  for (const Precision precision : {Precision::tf32, Precision::float32}) {
    const auto engine = gpu(precision);
    const std::unique_ptr<Predictor> prepared = engine->prepare(ensemble);
    for (const std::size_t count : {7, 301, 130, 1, 0, 301}) {
      const MatrixView<const float> rows = points.set(false).coordinates.middle_rows(0, count);
      std::vector<float> mean(count * outputs), members(count * all), gradient(count * slopes);
      std::vector<float> mean_once(mean.size()), members_once(members.size()), gradient_once(gradient.size());
      const bool each = count != 130;
      const auto views = [&](std::vector<float>& means, std::vector<float>& own) {
        return PredictionViews{.mean = {means.data(), count, outputs},
                               .variance = {},
                               .members = each ? MatrixView<float>(own.data(), count, all) : MatrixView<float>()};
      };
      prepared->predict(rows, views(mean, members));
      prepared->input_gradient(rows, {gradient.data(), count, slopes});
      engine->predict(ensemble, rows, views(mean_once, members_once));
      engine->input_gradient(ensemble, rows, {gradient_once.data(), count, slopes});
      EXPECT_EQ(mean, mean_once) << count;
      EXPECT_EQ(members, members_once) << count;
      EXPECT_EQ(gradient, gradient_once) << count;
    }
  }
}

TEST_P(EveryCase, GivesTheSameBitsEveryTime) {
  DRIFT_NEEDS_GPU();
  const Observations observations(GetParam().spec, 1500);
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    const Trained once = trained(*gpu(precision), GetParam(), observations, {9});
    expect_same_bits(once, trained(*gpu(precision), GetParam(), observations, {9}));
    expect_same_bits(once, trained(*gpu(precision), GetParam(), observations, {2, 3, 9}));
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCase, testing::ValuesIn(cases()), [](const auto& a_case) { return a_case.param.name; });

Case ordinary(Optimiser optimiser) {
  Case a_case{.name = "ordinary", .spec = small(Space::plane, 3, 1, 0), .recipe = short_recipe(optimiser)};
  a_case.recipe.epochs = 70;
  return a_case;
}

TEST(CudaTraining, AgreesWithTheCpuAfter200Steps) {
  DRIFT_NEEDS_GPU();
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    const Case a_case = ordinary(optimiser);
    const Observations observations(a_case.spec, 1500);
    const Trained here = trained(*gpu(), a_case, observations, {200}), there = trained(*cpu(), a_case, observations, {200});
    for (std::size_t i = 0; i < here.ensemble.members.size(); ++i) {
      EXPECT_LT(distance(here.state.members[i].losses, there.state.members[i].losses), kAfter200Steps);
      EXPECT_LT(distance(here.ensemble.members[i].parameters, there.ensemble.members[i].parameters), kAfter200Steps);
    }
  }
}

TEST(CudaTraining, InLowerPrecisionLearnsAsWell) {
  DRIFT_NEEDS_GPU();
  const Case a_case = ordinary(Optimiser::muon);
  const Observations observations(a_case.spec, 1500);
  const auto error = [&](Precision precision) {
    const Trained result = trained(*gpu(precision), a_case, observations, {210});
    std::vector<float> mean(observations.count());
    gpu(precision)->predict(result.ensemble, observations.set(false).coordinates,
                            {.mean = {mean.data(), mean.size(), 1}, .variance = {}, .members = {}});
    return distance(mean, observations.values);
  };
  const double exact = error(Precision::float32);
  if (most_steps() >= 210) {
    EXPECT_LT(exact, 0.1);
  }
  EXPECT_LT(error(Precision::tf32), 1.2 * exact);
  EXPECT_LT(error(Precision::bf16), 2.0 * exact);
}

TEST(CudaTraining, DivergesWithASentence) {
  DRIFT_NEEDS_GPU();
  Case a_case = ordinary(Optimiser::adam);
  a_case.recipe.rate = 1e30;
  const Observations observations(a_case.spec, 1500);
  try {
    trained(*gpu(), a_case, observations, {50});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("training diverged: the loss of member"));
  }
}

TEST(CudaTraining, MembersBehindCatchUp) {
  DRIFT_NEEDS_GPU();
  const Case a_case = ordinary(Optimiser::muon);
  const Observations observations(a_case.spec, 1500);
  const Trained whole = trained(*gpu(), a_case, observations, {10});
  Trained later = trained(*gpu(), a_case, observations, {4});
  const Trained ahead = trained(*gpu(), a_case, observations, {7});
  later.ensemble.members[1] = ahead.ensemble.members[1];
  later.state.members[1] = ahead.state.members[1];
  gpu()->advance(later.ensemble, later.state, observations.set(false), a_case.recipe, up_to(10), {});
  expect_same_bits(whole, later);
}

TEST(CudaTraining, StopsWhenAskedAndTellsOfProgress) {
  DRIFT_NEEDS_GPU();
  Case a_case = ordinary(Optimiser::adam);
  a_case.recipe.epochs = 2000;
  const Observations observations(a_case.spec, 1500);
  Trained result{.ensemble = drawn(a_case), .state = {}};
  std::stop_source source;
  int told = 0;
  const Control control{.progress =
                            [&](double, const std::string& what) {
                              ++told;
                              EXPECT_THAT(what, testing::AllOf(testing::HasSubstr("observations/s, loss "),
                                                               testing::Not(testing::HasSubstr("nan"))));
                              source.request_stop();
                            },
                        .stop = source.get_token()};
  gpu()->advance(result.ensemble, result.state, observations.set(false), a_case.recipe, 100000, control);
  EXPECT_GE(told, 1);
  EXPECT_GT(result.state.members[0].step, 0U);
  EXPECT_LT(result.state.members[0].step, 6000U);
  EXPECT_EQ(result.state.members[0].losses.size(), result.state.members[0].step);
}

TEST(CudaTraining, TakesLargeBatchesInSeveralPasses) {
  DRIFT_NEEDS_GPU();
  Case a_case = ordinary(Optimiser::adam);
  a_case.recipe.batch = 40000;
  a_case.spec.spatial.layers = 1;
  a_case.spec.features = 20;
  const Observations observations(a_case.spec, 45000);
  const Trained here = trained(*gpu(), a_case, observations, {3}, 1), there = trained(*cpu(), a_case, observations, {3}, 1);
  EXPECT_LT(distance(here.state.members[0].losses, there.state.members[0].losses), 1e-4);
  EXPECT_LT(distance(here.state.members[0].moment1, there.state.members[0].moment1), 1e-3);
}

TEST(CudaTraining, ReadsObservationsFromTheHostWhereTheyDoNotFit) {
  DRIFT_NEEDS_GPU();
  const Case a_case = ordinary(Optimiser::adam);
  const Observations observations(a_case.spec, 1500);
  const Trained whole = trained(*gpu(), a_case, observations, {10});
  Trained streamed = trained(*gpu(), a_case, observations, {0});
  const Stream stream;
  const DeviceData data(observations.set(false), 0, stream);
  EXPECT_TRUE(data.on_host());
  const ScaleResolver resolver(make_plan(a_case.spec));
  std::vector<TrainedMember> members;
  for (std::size_t i = 0; i < streamed.ensemble.members.size(); ++i) {
    members.push_back({.member = &streamed.ensemble.members[i],
                       .progress = &streamed.state.members[i],
                       .resolver = &resolver,
                       .recipe = &a_case.recipe,
                       .seed = streamed.ensemble.seed,
                       .run = 0});
  }
  Trainer trainer(members, data, observations.count(), Precision::float32, stream);
  trainer.advance(up_to(10), [](const auto&, std::uint64_t) { return false; });
  expect_same_bits(whole, streamed);
}

TEST(CudaMemory, UsedUpIsSaidWithTheFigure) {
  DRIFT_NEEDS_GPU();
  try {
    const DeviceArray<float> too_much(std::size_t{1} << 50);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("GiB more were wanted"));
  }
}

TEST(CudaEngine, SaysWhyThereIsNone) {
  if (why_no_cuda().empty()) {
    EXPECT_EQ(make_engine(Backend::automatic)->name(), "cuda");
    EXPECT_EQ(make_engine(Backend::cuda)->name(), "cuda");
  } else {
    EXPECT_EQ(make_engine(Backend::automatic)->name(), "cpu");
    EXPECT_THROW(make_engine(Backend::cuda), Error);
  }
  EXPECT_EQ(make_engine(Backend::cpu)->name(), "cpu");
}

}  // namespace
}  // namespace drift::cuda
