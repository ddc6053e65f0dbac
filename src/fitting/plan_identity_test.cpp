#include "fitting/plan_identity.h"

#include <gtest/gtest.h>

#include <set>

#include "data/observation_columns.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

std::string text_of(const FitPlan& plan, const Observations& observations) {
  Fingerprint print;
  add_plan(print, plan, observations);
  return print.text();
}

TEST(AddPlan, TellsPlansApartByEachOfTheirRowsAndTheDomain) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit(small_settings(), data);
  std::set<std::string> texts = {text_of(plan, data.observations)};
  for (const auto& change : std::vector<std::function<void(FitPlan&)>>{
           [](FitPlan& other) { other.split.training.push_back(0); },
           [](FitPlan& other) { other.split.held_out.push_back(0); },
           [](FitPlan& other) { other.test.push_back(0); },
           [](FitPlan& other) { other.domain.value.sd *= 2.0; },
       }) {
    FitPlan other = plan;
    change(other);
    texts.insert(text_of(other, data.observations));
  }
  EXPECT_EQ(texts.size(), 5u);
}

TEST(AddPlan, TellsObservationsApartByEachOfTheirColumns) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit(small_settings(), data);
  std::set<std::string> texts = {text_of(plan, data.observations)};
  Observations other = data.observations;
  std::size_t columns = 0;
  for_each_column(other, [&](auto& column) {
    const auto before = column;
    column.push_back(1);
    texts.insert(text_of(plan, other));
    column = before;
    ++columns;
  });
  other.platform_names.emplace_back("another");
  texts.insert(text_of(plan, other));
  EXPECT_EQ(texts.size(), columns + 2);
}

}  // namespace
}  // namespace drift
