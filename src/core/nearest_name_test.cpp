#include "drift/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace drift {
namespace {

constexpr std::array<std::string_view, 5> kKnown = {"batch", "epochs", "rate", "muon_rate", "beta"};

TEST(NearestName, FindsTheNameBehindAMissingAnAddedAWrongOrTwoSwappedLetters) {
  EXPECT_EQ(nearest_name("epoch", kKnown), "epochs");
  EXPECT_EQ(nearest_name("batchh", kKnown), "batch");
  EXPECT_EQ(nearest_name("muon-rate", kKnown), "muon_rate");
  EXPECT_EQ(nearest_name("aret", kKnown), "rate");
  EXPECT_EQ(nearest_name("bta", kKnown), "beta");
}

TEST(NearestName, CountsASwapOfNeighboursAsOneChange) {
  constexpr std::array<std::string_view, 2> known = {"abxy",
                                                     "ba"};  // "ab" -> "ba": one swap; two replacements would tie with abxy
  EXPECT_EQ(nearest_name("ab", known), "ba");
}

TEST(NearestName, KeepsAnExactNameAndTakesTheFirstOfATie) {
  EXPECT_EQ(nearest_name("rate", kKnown), "rate");
  constexpr std::array<std::string_view, 2> known = {"cat", "bat"};
  EXPECT_EQ(nearest_name("hat", known), "cat");
}

TEST(NearestName, IsEmptyWhenNothingIsKnown) { EXPECT_EQ(nearest_name("rate", {}), ""); }

}  // namespace
}  // namespace drift
