#include "data/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool holds(const std::string& condition, double number) { return parse_condition(condition).holds(number); }

TEST(Condition, ComparesWithANumber) {
  EXPECT_TRUE(holds("x < 3", 2.9));
  EXPECT_FALSE(holds("x < 3", 3));
  EXPECT_TRUE(holds("x<=3", 3));
  EXPECT_TRUE(holds("x >-3.5e-1", -0.3));
  EXPECT_FALSE(holds("x >= 3", 2.9));
  EXPECT_TRUE(holds("x == 3", 3));
  EXPECT_TRUE(holds("x != 3", 4));
  EXPECT_FALSE(holds("x != 3", 3));
}

TEST(Condition, ComparesWithAList) {
  EXPECT_TRUE(holds("x in 64, 256", 256));
  EXPECT_FALSE(holds("x in 64,256", 65));
  EXPECT_TRUE(holds("x not in 64,256", 65));
  EXPECT_FALSE(holds("x not in 64,256", 64));
  const Condition words = parse_condition("name with blanks in s3a, s3b");
  EXPECT_EQ(words.name, "name with blanks");
  EXPECT_THAT(words.words, ElementsAre("s3a", "s3b"));
  EXPECT_TRUE(words.holds(std::string_view("s3b")));
  EXPECT_FALSE(words.holds(std::string_view("s3c")));
  EXPECT_TRUE(parse_condition("name != s3a").holds(std::string_view("s3c")));
}

TEST(Condition, LooksAtBits) {
  EXPECT_TRUE(holds("flags has 3", 7));
  EXPECT_FALSE(holds("flags has 3", 5));
  EXPECT_FALSE(holds("flags has 4", 3));
  EXPECT_FALSE(holds("flags has 1", 1e300));
}

TEST(Condition, NeverHoldsForNothing) {
  for (const char* text : {"x < 3", "x > 3", "x != 3", "x not in 3", "x in 3", "x has 1"})
    EXPECT_FALSE(holds(text, std::nan(""))) << text;
}

TEST(Condition, ThatIsNoneIsQuoted) {
  for (const char* text : {"", "x", "x is 3", "x in", "x in ", "in 3", "< 3", "x <", "x < a", "x < 1,2", "x == 1,2", "x in 1,,2",
                           "x has 0", "x has 1.5", "x has a"}) {
    try {
      parse_condition(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("the condition \"") + text + "\""));
      EXPECT_THAT(error.what(), HasSubstr("understood are NAME in 1,2,3"));
    }
  }
}

}  // namespace
}  // namespace drift
