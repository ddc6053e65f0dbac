#include "baselines/method_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;

MethodInfo some_method() {
  return {.name = "kriging",
          .title = "Kriging",
          .summary = "",
          .source = "",
          .options = {{"neighbours", "", "32"}, {"nu", "", "1.5"}, {"kind", "", "joint"}, {"trained", "", "yes"}}};
}

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(MethodSettings, AreReadByNameAndFallBackWhereTheyAreNotGiven) {
  const MethodSettings settings(some_method(), "neighbours=64,kind=product,trained=no");
  EXPECT_EQ(settings.count("neighbours", 32, 1, 1000), 64U);
  EXPECT_DOUBLE_EQ(settings.number("nu", 1.5, 0.1, 10), 1.5);
  EXPECT_FALSE(settings.number("nu", 0.1, 10).has_value());
  EXPECT_EQ(settings.word("kind", "joint", {"joint", "product"}), "product");
  EXPECT_FALSE(settings.truth("trained", true));
  EXPECT_TRUE(MethodSettings(some_method(), "").truth("trained", true));
}

TEST(MethodSettings, AnUnknownOptionNamesWhatMayBeMeant) {
  const auto asked = [](const std::string& text) { return complaint([&] { MethodSettings(some_method(), text); }); };
  EXPECT_THAT(asked("neighbors=64"), HasSubstr("method kriging has no option 'neighbors'; did you mean 'neighbours'?"));
  EXPECT_THAT(asked("size=64"), HasSubstr("method kriging has no option 'size'; choose from neighbours"));
}

TEST(MethodSettings, WhatDoesNotReadOrFitIsNamed) {
  const auto asked = [](const std::string& text) {
    return complaint([&] {
      const MethodSettings settings(some_method(), text);
      settings.count("neighbours", 32, 1, 1000);
      settings.number("nu", 1.5, 0.1, 10);
      settings.word("kind", "joint", {"joint", "product"});
      settings.truth("trained", true);
    });
  };
  EXPECT_EQ(asked("nu=2.5,neighbours=8"), "none");
  EXPECT_THAT(asked("nu=abc"), HasSubstr("nu must be a number, not 'abc'"));
  EXPECT_THAT(asked("nu=nan"), HasSubstr("nu must be a number"));
  EXPECT_THAT(asked("nu=1.5km"), HasSubstr("nu must be a number"));
  EXPECT_THAT(asked("neighbours=0"), HasSubstr("must be from 1 to 1000"));
  EXPECT_THAT(asked("neighbours=2.5"), HasSubstr("whole number"));
  EXPECT_THAT(asked("kind=sum"), HasSubstr("one of joint, product"));
  EXPECT_THAT(asked("trained=maybe"), HasSubstr("one of yes, no"));
  EXPECT_THAT(asked("nu=1,nu=2"), HasSubstr("given twice"));
  EXPECT_THAT(asked("nu"), HasSubstr("option=value"));
  EXPECT_THAT(asked("=3"), HasSubstr("option=value"));
  EXPECT_THAT(asked("nu="), HasSubstr("option=value"));
}

}  // namespace
}  // namespace drift
