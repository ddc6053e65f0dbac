#include "drift/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "drift/error.h"

namespace drift {
namespace {

// The message of the Error that `action` throws; fails the test when it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return text.replace(at, from.size(), to);
}

// A recipe in which no field has its default, to be sure that each is carried over.
Recipe unusual_recipe() {
  Recipe recipe;
  recipe.loss = LossKind::huber;
  recipe.huber_delta = 0.1 + 1e-17 + 0.2;
  recipe.noise_sd = 1.0 / 3.0;
  recipe.beta = 1e-300;
  recipe.optimiser = Optimiser::adam;
  recipe.rate = 0.3;
  recipe.muon_rate = 7e-3;
  recipe.adam_beta1 = 0.8;
  recipe.adam_beta2 = 0.99;
  recipe.adam_epsilon = 1e-9;
  recipe.muon_momentum = 0.9;
  recipe.muon_iterations = 7;
  recipe.schedule = Schedule::constant;
  recipe.warmup_steps = std::numeric_limits<std::size_t>::max();
  recipe.epochs = 2.0 / 7.0;
  recipe.batch = 77;
  recipe.train_lengthscales = true;
  recipe.train_amplitudes = true;
  recipe.hyper_rate = 3e-3;
  recipe.dropout = 0.25;
  recipe.value_noise = 0.3;
  return recipe;
}

TEST(Recipe, ComesBackFromJsonExactly) {
  EXPECT_EQ(recipe_from_json(to_json(unusual_recipe())), unusual_recipe());
  EXPECT_EQ(recipe_from_json(to_json(default_recipe())), default_recipe());
  EXPECT_EQ(recipe_from_json(to_json(paper_recipe())), paper_recipe());
}

TEST(Recipe, NamesTheNearestKeyWhenOneIsUnknown) {
  const std::string text = replaced(to_json(Recipe{}), "\"epochs\"", "\"epoch\"");
  const std::string message = error_of([&] { recipe_from_json(text); });
  EXPECT_NE(message.find("\"epoch\""), std::string::npos) << message;
  EXPECT_NE(message.find("'epochs'"), std::string::npos) << message;
}

TEST(Recipe, OfAnEarlierVersionHasNeitherDropoutNorValueNoise) {
  const std::string before_value_noise = replaced(to_json(Recipe{}), ",\"value_noise\":0.0", "");
  EXPECT_EQ(recipe_from_json(before_value_noise), Recipe{});
  EXPECT_EQ(recipe_from_json(replaced(before_value_noise, ",\"dropout\":0.0", "")), Recipe{});
}

TEST(Recipe, RefusesAMissingKeyByName) {
  const std::string text = replaced(to_json(Recipe{}), "\"batch\":1024,", "");
  EXPECT_NE(error_of([&] { recipe_from_json(text); }).find("\"batch\" is missing"), std::string::npos);
}

TEST(Recipe, RefusesValuesOfTheWrongType) {
  const std::string good = to_json(Recipe{});
  for (const auto& [from, to] :
       std::initializer_list<std::pair<std::string, std::string>>{{"\"batch\":1024", "\"batch\":-1"},
                                                                  {"\"batch\":1024", "\"batch\":10.5"},
                                                                  {"\"muon\"", "\"sgd\""},
                                                                  {"\"muon\"", "1"},
                                                                  {"\"epochs\":1.0", "\"epochs\":\"1\""},
                                                                  {"\"beta\":null", "\"beta\":\"\""},
                                                                  {"\"muon_iterations\":5", "\"muon_iterations\":4294967296"},
                                                                  {"false", "0"}}) {
    EXPECT_THROW(recipe_from_json(replaced(good, from, to)), Error) << to;
  }
  EXPECT_NE(error_of([&] { recipe_from_json(replaced(good, "\"muon\"", "\"sgd\"")); }).find("\"adam\", \"muon\""),
            std::string::npos);
}

TEST(Recipe, RefusesTextThatIsNoJsonObject) {
  for (const char* text : {"", "{", "[]", "null", "{\"rate\":"}) EXPECT_THROW(recipe_from_json(text), Error) << text;
}

TEST(Recipe, RefusesEveryFieldOutOfRangeByName) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::initializer_list<std::pair<const char*, std::function<void(Recipe&)>>> faults = {
      {"huber_delta", [](Recipe& r) { r.huber_delta = 0.0; }},
      {"value_noise", [](Recipe& r) { r.value_noise = -0.1; }},
      {"noise_sd", [](Recipe& r) { r.noise_sd = -1e-9; }},
      {"beta", [&](Recipe& r) { r.beta = infinity; }},
      {"rate", [&](Recipe& r) { r.rate = nan; }},
      {"muon_rate", [](Recipe& r) { r.muon_rate = 0.0; }},
      {"adam_beta1", [](Recipe& r) { r.adam_beta1 = 1.0; }},
      {"adam_beta2", [](Recipe& r) { r.adam_beta2 = -0.1; }},
      {"adam_epsilon", [](Recipe& r) { r.adam_epsilon = 0.0; }},
      {"muon_momentum", [&](Recipe& r) { r.muon_momentum = nan; }},
      {"muon_iterations", [](Recipe& r) { r.muon_iterations = 0; }},
      {"epochs", [&](Recipe& r) { r.epochs = infinity; }},
      {"batch", [](Recipe& r) { r.batch = 0; }},
      {"batch", [](Recipe& r) { r.batch = std::numeric_limits<std::size_t>::max() - 3; }},
      {"batch", [](Recipe& r) { r.batch = (std::size_t{1} << 30) + 1; }},
      {"hyper_rate", [](Recipe& r) { r.hyper_rate = -1.0; }},
      {"dropout", [](Recipe& r) { r.dropout = 1.0; }},
  };
  EXPECT_NO_THROW(check(Recipe{}));
  for (const auto& [field, spoil] : faults) {
    Recipe recipe;
    spoil(recipe);
    EXPECT_THROW(check(recipe), UsageError);
    EXPECT_NE(error_of([&] { check(recipe); }).find(std::string(" ") + field + " is "), std::string::npos) << field;
  }
}

TEST(TotalSteps, CountsTheShortLastBatchOfEveryEpoch) {
  Recipe recipe;
  recipe.batch = 10;
  EXPECT_EQ(total_steps(recipe, 100), 10u);
  EXPECT_EQ(total_steps(recipe, 101), 11u);
  EXPECT_EQ(total_steps(recipe, 9), 1u);
  recipe.epochs = 3.0;
  EXPECT_EQ(total_steps(recipe, 101), 33u);  // not ceil(303 / 10) = 31
}

TEST(TotalSteps, RoundsAFractionOfAnEpochToWholeStepsAndTakesAtLeastOne) {
  Recipe recipe;
  recipe.batch = 10;
  recipe.epochs = 0.25;
  EXPECT_EQ(total_steps(recipe, 100), 3u);  // 2.5 away from zero
  recipe.epochs = 1e-9;
  EXPECT_EQ(total_steps(recipe, 100), 1u);
  recipe.epochs = 0.1;  // ten tenths of ten steps: no step lost to 0.1 * 30 = 3.0000000000000004
  EXPECT_EQ(total_steps(recipe, 300), 3u);
}

TEST(TotalSteps, RefusesNoObservationsAndRunsBeyondCounting) {
  Recipe recipe;
  EXPECT_THROW(total_steps(recipe, 0), UsageError);
  recipe.epochs = 1e300;
  EXPECT_THROW(total_steps(recipe, 1), UsageError);
}

TEST(WeightDecay, IsTheNoiseVarianceOverTheObservationsUnlessGiven) {
  Recipe recipe;
  recipe.noise_sd = 0.01;
  EXPECT_DOUBLE_EQ(weight_decay(recipe, 1000), 1e-7);
  recipe.beta = 0.0;
  EXPECT_EQ(weight_decay(recipe, 1000), 0.0);
}

TEST(PaperRecipe, IsAdamAtAConstantThousandth) {
  const Recipe recipe = paper_recipe();
  EXPECT_EQ(recipe.optimiser, Optimiser::adam);
  EXPECT_EQ(recipe.rate, 1e-3);
  EXPECT_EQ(recipe.schedule, Schedule::constant);
  EXPECT_EQ(recipe.loss, LossKind::squared);
  EXPECT_EQ(recipe.batch, 1024u);
  EXPECT_EQ(recipe.epochs, 1.0);
}

}  // namespace
}  // namespace drift
