#include "baselines/neural_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/networks_testing.h"
#include "drift/error.h"
#include "network/draw.h"

namespace drift {
namespace {

// Encoder and decoder in double with made-up observations, open to small changes.
struct Problem {
  ProcessSpecs specs = process_specs(2, 3, 5);
  std::vector<double> encoder, decoder;
  ProcessBatch<double> batch;
  ProcessPass<double> pass;

  explicit Problem(std::size_t rows, std::size_t context, int threads = 1) : pass(specs, rows, threads) {
    const auto draw = [](const NetworkSpec& spec, std::uint32_t index) {
      const Member member = draw_member(make_plan(spec), 7, index);
      return std::vector<double>(member.parameters.begin(), member.parameters.end());
    };
    encoder = draw(specs.encoder, 0);
    decoder = draw(specs.decoder, 1);
    for (std::size_t i = 0; i < 2 * rows; ++i) batch.coordinates.push_back(std::sin(1.7 * static_cast<double>(i) + 0.3));
    for (std::size_t i = 0; i < rows; ++i) batch.values.push_back(std::cos(0.9 * static_cast<double>(i)));
    for (std::size_t i = 0; i < rows; ++i) batch.weights.push_back(0.5 + 0.1 * static_cast<double>(i % 7));
    batch.context = context;
  }

  double loss() { return pass.run(encoder.data(), decoder.data(), batch); }
  double difference(double& parameter) {
    constexpr double kStep = 1e-5;
    const double before = parameter;
    parameter = before + kStep;
    const double up = loss();
    parameter = before - kStep;
    const double down = loss();
    parameter = before;
    return (up - down) / (2 * kStep);
  }
  static std::vector<double> sum(const std::vector<const double*>& slices, std::size_t size) {
    std::vector<double> total(size, 0.0);
    for (const double* slice : slices) {
      for (std::size_t i = 0; i < size; ++i) total[i] += slice[i];
    }
    return total;
  }
};

constexpr double kTolerance = 2e-7;  // central differences: h^2 f''' / 6 + 1e-16 / h

TEST(NeuralProcess, GradientsOfEncoderAndDecoderMatchFiniteDifferences) {
  Problem problem(9, 4);
  problem.loss();
  const auto encoder = Problem::sum(problem.pass.encoder_gradients(), problem.encoder.size());
  const auto decoder = Problem::sum(problem.pass.decoder_gradients(), problem.decoder.size());
  double largest = 0.0;
  const auto expect_all = [&](const NetworkSpec& spec, std::vector<double>& parameters, const std::vector<double>& gradient) {
    for (const TensorInfo& tensor : make_plan(spec).parameter_tensors) {
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
        ASSERT_NEAR(gradient[i], problem.difference(parameters[i]), kTolerance * (1 + std::abs(gradient[i]))) << tensor.name;
        largest = std::max(largest, std::abs(gradient[i]));
      }
    }
  };
  expect_all(problem.specs.encoder, problem.encoder, encoder);
  EXPECT_GT(largest, 1e3 * kTolerance) << "the encoder's gradient is too small for this check to mean anything";
  expect_all(problem.specs.decoder, problem.decoder, decoder);
}

TEST(NeuralProcess, GradientCheckRejectsASmallError) {
  Problem problem(9, 4);
  problem.loss();
  const auto gradient = Problem::sum(problem.pass.encoder_gradients(), problem.encoder.size());
  const auto steepest = static_cast<std::size_t>(
      std::max_element(gradient.begin(), gradient.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      gradient.begin());
  const double truth = problem.difference(problem.encoder[steepest]), tolerance = kTolerance * (1 + std::abs(truth));
  EXPECT_NEAR(gradient[steepest], truth, tolerance);
  EXPECT_GT(std::abs(-gradient[steepest] - truth), tolerance);
  EXPECT_GT(std::abs(1.001 * gradient[steepest] - truth), tolerance);
}

TEST(NeuralProcess, DoesNotDependOnThreadsWhereABatchHasSeveralSlices) {
  Problem one(700, 300, 1), three(700, 300, 3);
  EXPECT_EQ(one.loss(), three.loss());
  EXPECT_EQ(Problem::sum(one.pass.encoder_gradients(), one.encoder.size()),
            Problem::sum(three.pass.encoder_gradients(), one.encoder.size()));
  // And the slices are the whole: a step along the gradient lowers the loss by its square.
  const auto gradient = Problem::sum(one.pass.encoder_gradients(), one.encoder.size());
  const double before = one.loss();
  double square = 0.0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    one.encoder[i] -= 1e-6 * gradient[i];
    square += gradient[i] * gradient[i];
  }
  EXPECT_NEAR((before - one.loss()) / (1e-6 * square), 1.0, 1e-3);
}

TEST(NeuralProcess, IsInvariantUnderPermutationOfItsContext) {
  const SmallField field(Space::plane, false, 1000);
  const ProcessSpecs specs = process_specs(2, 3, 16);
  const std::vector<float> encoder = draw_member(make_plan(specs.encoder), 7, 0).parameters;
  const std::vector<float> decoder = draw_member(make_plan(specs.decoder), 7, 1).parameters;
  std::vector<std::size_t> rows(1000);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto forecast = [&](int threads) {
    const auto code = encode_context(specs, encoder, field.points(), field.data().training.values, rows, threads);
    std::vector<double> mean(1000), sd(1000);
    decode_points(specs, decoder, code, field.points(), mean, sd, threads);
    mean.insert(mean.end(), sd.begin(), sd.end());
    return mean;
  };
  const auto before = forecast(1);
  EXPECT_EQ(forecast(3), before) << "threads change nothing";
  std::reverse(rows.begin(), rows.end());
  std::swap(rows[3], rows[700]);
  const auto after = forecast(1);
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-5) << i;  // sums in another order
  rows.resize(500);
  const auto fewer = forecast(1);
  double most = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) most = std::max(most, std::abs(fewer[i] - before[i]));
  EXPECT_GT(most, 1e-3) << "the context has no say";
}

TEST(NeuralProcess, HasAnSdOfAtLeastItsFloorAndNoOverflow) {
  EXPECT_DOUBLE_EQ(forecast_of(0.0, -1000.0).sd, kLeastSd);
  EXPECT_DOUBLE_EQ(forecast_of(0.0, 1000.0).sd, kLeastSd + 1000.0);
  EXPECT_NEAR(forecast_of(0.0, 0.0).sd, kLeastSd + std::log(2.0), 1e-12);
}

TEST(NeuralProcess, LearnsAFieldAndItsNoise) {
  const SmallField training(Space::plane, true, 2000), fresh(Space::plane, true, 500, 8);
  const auto process = make_interpolator("cnp:depth=3,width=48,batch=256,steps=700", training.domain());
  double last = 0.0;
  process->fit(training.data(), {.threads = 2}, {.progress = [&](double share, const std::string&) { last = share; }});
  EXPECT_EQ(last, 1.0);
  std::vector<double> mean(500), sd(500), total(500);
  process->predict(fresh.points(), {.mean = mean, .sd_epistemic = sd, .sd_total = total});
  EXPECT_EQ(sd, total);
  EXPECT_TRUE(process->knows_noise());
  EXPECT_LT(fresh.error(mean), 0.45);
  // Negative log likelihood of fresh observations, against that of their mean and sd alone (about 1).
  double nll = 0.0, middle = 0.0;
  for (std::size_t i = 0; i < 500; ++i) {
    const double z = (fresh.values[i] - mean[i]) / total[i];
    nll += (0.919 + std::log(total[i]) + 0.5 * z * z) / 500;
    middle += total[i] / 500;
  }
  EXPECT_LT(nll, 0.0);
  EXPECT_GT(middle, 0.5 * SmallField::kNoise);
  EXPECT_LT(middle, 5 * SmallField::kNoise);
}

TEST(NeuralProcess, LearnsOnTheSphere) {
  EXPECT_LT(error_of("cnp:depth=3,width=48,batch=256,steps=500", Space::sphere, false), 0.4);
}

TEST(NeuralProcess, TakesASubsetOfItsContextAndStopsWhenAsked) {
  const SmallField field(Space::plane, false, 400);
  const auto process = make_interpolator("cnp:depth=2,width=8,batch=64,steps=5,epochs=1,context=100", field.domain());
  process->fit(field.data(), {.threads = 1});
  EXPECT_THAT(process->findings(field.domain()), testing::Contains(testing::Pair("context", "100")));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(process->fit(field.data(), {.threads = 1}, {.stop = stop.get_token()}), Stopped);
}

TEST(NeuralProcess, RefusesWhatCannotBe) {
  const SmallField field(Space::plane, false, 50);
  const auto complaint = [&](const char* text, const InterpolatorData& data) -> std::string {
    try {
      make_interpolator(text, field.domain())->fit(data, {.threads = 1});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("cnp:depth=100,width=8192,batch=100000", field.data()), testing::HasSubstr("lower width or batch"));
  SmallField broken(Space::plane, false, 50);
  broken.values[7] = NAN;
  EXPECT_THAT(complaint("cnp", broken.data()), testing::HasSubstr("row 7"));
}

}  // namespace
}  // namespace drift
