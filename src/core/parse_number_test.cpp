#include "drift/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace drift {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<double>("12.5"), 12.5);
  EXPECT_EQ(parse_number<double>("+1e-3"), 1e-3);
  EXPECT_EQ(parse_number<double>("-0.5"), -0.5);
  for (const char* text : {"", "+", "-", "+-1", "++1", " 1", "1 ", "1x", "0x10", "1,5", "inf", "nan", "-inf", "1e999"}) {
    EXPECT_FALSE(parse_number<double>(text)) << text;
  }
}

TEST(ParseNumber, RefusesWhatDoesNotFitTheType) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_FALSE(parse_number<std::uint32_t>("1.0"));
}

TEST(ParseNumbers, AreExactlyAsManyAsAskedFor) {
  EXPECT_EQ(parse_numbers<double>("-30,60,+20,80", ',', 4), (std::vector<double>{-30.0, 60.0, 20.0, 80.0}));
  for (const char* text : {"1,2,3", "1,2,3,4,5", "1,2,3,", ",1,2,3", "1,,2,3", "1:2:3:4", ""}) {
    EXPECT_FALSE(parse_numbers<double>(text, ',', 4)) << text;
  }
  EXPECT_FALSE(parse_numbers<double>("", ',', 0));
}

}  // namespace
}  // namespace drift
