// Ten training losses of small networks beside those of an independent implementation: PyTorch, float64, automatic derivatives
// (tests/golden/make_training_losses.py, whose formulas are repeated here).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "drift/engine.h"
#include "network/plan.h"

namespace drift {
namespace {

// float32 against float64: a loss is a mean over 48 residuals, each rounded at 1e-7 of a few units; where it has fallen to a
// fifth of its start, that is near 1e-6 of it. Rounding of one step's gradient moves the next steps' weights: a few 1e-6 more.
// Measured: at most 7e-6.
constexpr double kFloatVsDouble = 2e-5;

enum Purpose { kHiddenFrequencies, kCoordinateFrequencies, kPhases, kPoles, kBottleneck, kHeadWeights, kCoordinates, kWeights };
constexpr double kFrequencyScale = 0.25;  // turns

double formula(std::size_t index, int purpose, int place = 0) {
  const auto i = static_cast<double>(index);
  return std::sin(1.0 + 0.7 * i + 0.013 * i * i + 2.3 * purpose + 0.9 * place);
}

// target[i] = offset + scale formula(i).
void fill(float* target, std::size_t size, Purpose purpose, int place, double offset, double scale) {
  for (std::size_t i = 0; i < size; ++i) target[i] = static_cast<float>(offset + scale * formula(i, purpose, place));
}

void fill_spherical(const LayerPlan& layer, int place, float* fixed) {
  const auto features = static_cast<std::size_t>(layer.features);
  for (std::size_t m = 0; m < features; ++m) {
    fixed[layer.degrees + m] = static_cast<float>(m * 9 / features);
    const double pole[3] = {formula(m, kPoles, place), formula(features + m, kPoles, place),
                            formula(2 * features + m, kPoles, place)};
    const double length = std::hypot(pole[0], pole[1], pole[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      fixed[layer.poles + axis * features + m] = static_cast<float>(pole[axis] / length);
  }
}

Member formula_member(const Plan& plan) {
  Member member;
  member.fixed.assign(plan.fixed_size, 0.0F);
  member.parameters.assign(plan.parameter_size, 0.0F);
  float* fixed = member.fixed.data();
  for (const LayerPlan& layer : plan.layers) {
    const int place = 10 * static_cast<int>(layer.chain) + layer.position;
    const auto features = static_cast<std::size_t>(layer.features);
    const auto size = [&](int rows) { return static_cast<std::size_t>(rows) * features; };
    if (layer.hidden > 0) {
      fill(fixed + layer.hidden_frequencies, size(layer.hidden), kHiddenFrequencies, place, 0.0, kFrequencyScale);
    }
    if (layer.coordinates > 0) {
      fill(fixed + layer.coordinate_frequencies, size(layer.coordinates), kCoordinateFrequencies, place, 0.0, kFrequencyScale);
    }
    if (layer.planar()) fill(fixed + layer.phases, features, kPhases, place, 0.5, 0.5);
    if (layer.sphere) fill_spherical(layer, place, fixed);
    fill(member.parameters.data() + layer.bottleneck, size(layer.outputs), kBottleneck, place, 0.0, 1.0);
  }
  if (plan.has_head) {
    const auto size = static_cast<std::size_t>(plan.head_inputs * plan.spec.outputs);
    fill(member.parameters.data() + plan.head, size, kHeadWeights, 0, 0.0, 1.0);
  }
  return member;
}

struct Observations {
  std::vector<float> coordinates, values, weights;
  TrainingSet set;

  Observations(const NetworkSpec& spec, std::size_t count, bool weighted) {
    const auto cols = static_cast<std::size_t>(spec.coordinates());
    const auto outputs = static_cast<std::size_t>(spec.outputs);
    const bool sphere = spec.space == Space::sphere;
    for (std::size_t row = 0; row < count; ++row) {
      std::vector<double> x(cols);
      for (std::size_t col = 0; col < cols; ++col) x[col] = formula(row * cols + col, kCoordinates);
      const double length = sphere ? std::hypot(x[0], x[1], x[2]) : 1.0;
      for (std::size_t col = 0; col < cols; ++col)
        coordinates.push_back(static_cast<float>(sphere && col < 3 ? x[col] / length : x[col]));
      const auto first = static_cast<double>(coordinates[row * cols]);
      const auto last = static_cast<double>(coordinates.back());
      for (std::size_t output = 0; output < outputs; ++output) {
        values.push_back(static_cast<float>(std::sin(2.0 * first + static_cast<double>(output)) * std::cos(last)));
      }
      if (weighted) weights.push_back(static_cast<float>(1.0 + 0.5 * formula(row, kWeights)));
    }
    set = {{coordinates.data(), count, cols}, {values.data(), count, outputs}, weights};
  }
};

const nlohmann::json& golden() {
  static const nlohmann::json cases = [] {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "../../tests/golden/training_losses.json";
    std::ifstream file(path);
    return nlohmann::json::parse(file).at("cases");
  }();
  return cases;
}

std::vector<float> engine_losses(const nlohmann::json& golden_case) {
  const NetworkSpec spec = network_spec_from_json(golden_case.at("spec").dump());
  const Recipe recipe = recipe_from_json(golden_case.at("recipe").dump());
  const Observations observations(spec, golden_case.at("observations"), golden_case.at("weighted"));
  Ensemble ensemble{.spec = spec, .seed = 0, .members = {formula_member(make_plan(spec))}};
  TrainingState state;
  const std::size_t steps = golden_case.at("losses").size();
  make_cpu_engine({.threads = 2})->advance(ensemble, state, observations.set, recipe, steps, {});
  return state.members.at(0).losses;
}

double greatest_relative_error(const std::vector<float>& losses, const nlohmann::json& expected) {
  double greatest = 0.0;
  for (std::size_t step = 0; step < expected.size(); ++step) {
    const double wanted = expected[step];
    greatest = std::max(greatest, std::abs(static_cast<double>(losses.at(step)) - wanted) / wanted);
  }
  return greatest;
}

class GoldenLosses : public testing::TestWithParam<std::size_t> {};

TEST_P(GoldenLosses, AgreeWithAutomaticDerivativesInDouble) {
  const nlohmann::json& golden_case = golden().at(GetParam());
  const std::vector<float> losses = engine_losses(golden_case);
  ASSERT_EQ(losses.size(), golden_case.at("losses").size());
  const double error = greatest_relative_error(losses, golden_case.at("losses"));
  EXPECT_LT(error, kFloatVsDouble);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenLosses, testing::Range<std::size_t>(0, golden().size()),
                         [](const auto& index) { return golden().at(index.param).at("name").template get<std::string>(); });

// The comparison would notice settings that hardly matter within ten steps: here, a tenth more weight decay.
TEST(GoldenComparison, NoticesASlightlyDifferentRecipe) {
  nlohmann::json changed = golden().at(0);
  changed["recipe"]["beta"] = 1.1 * changed["recipe"]["beta"].get<double>();
  EXPECT_GT(greatest_relative_error(engine_losses(changed), changed.at("losses")), kFloatVsDouble);
}

}  // namespace
}  // namespace drift
