#include "drift/did_you_mean.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace drift {
namespace {

constexpr std::array<std::string_view, 5> kKnown = {"batch", "epochs", "rate", "muon_rate", "beta"};

std::string meant(std::string_view name) { return "; did you mean '" + std::string(name) + "'?"; }

TEST(DidYouMean, FindsTheNameBehindAMissingAnAddedAWrongOrTwoSwappedLetters) {
  EXPECT_EQ(did_you_mean("epoch", kKnown), meant("epochs"));
  EXPECT_EQ(did_you_mean("batchh", kKnown), meant("batch"));
  EXPECT_EQ(did_you_mean("muon-rate", kKnown), meant("muon_rate"));
  EXPECT_EQ(did_you_mean("aret", kKnown), meant("rate"));
  EXPECT_EQ(did_you_mean("bta", kKnown), meant("beta"));
}

TEST(DidYouMean, CountsASwapOfNeighboursAsOneChange) {
  constexpr std::array<std::string_view, 2> known = {"abxy",
                                                     "ba"};  // "ab" -> "ba": one swap; two replacements would tie with abxy
  EXPECT_EQ(did_you_mean("ab", known), meant("ba"));
}

TEST(DidYouMean, TakesTheFirstOfATie) {
  constexpr std::array<std::string_view, 2> known = {"cat", "bat"};
  EXPECT_EQ(did_you_mean("hat", known), meant("cat"));
}

TEST(DidYouMean, FindsANameThatIsPartOfTheOther) {
  EXPECT_EQ(did_you_mean("epochs-of-training", kKnown), meant("epochs"));
  EXPECT_EQ(did_you_mean("muon", kKnown), meant("muon_rate"));
  EXPECT_EQ(did_you_mean("local-experts", std::array<std::string_view, 2>{"exact", "experts"}), meant("experts"));
}

TEST(DidYouMean, NamesWhatThereIsWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("colour", kKnown), "; choose from batch, epochs, rate, muon_rate, beta");
  EXPECT_EQ(did_you_mean("oi", std::array<std::string_view, 2>{"dgp", "svgp"}), "; choose from dgp, svgp");
  EXPECT_EQ(did_you_mean("--out", std::array<std::string_view, 2>{"--lat", "--dropout"}), "; choose from --lat, --dropout");
}

TEST(DidYouMean, IsEmptyWhenNothingIsKnownOrTooMuchToRead) {
  EXPECT_EQ(did_you_mean("rate", {}), "");
  EXPECT_EQ(did_you_mean("xyz", std::vector<std::string_view>(100, "abc")), "");
}

TEST(MustBeOneOf, NamesAllAndTheNearest) {
  constexpr std::array<std::string_view, 2> known = {"squared", "huber"};
  EXPECT_EQ(must_be_one_of("Huber", known), "must be one of squared, huber; did you mean 'huber'?");
  EXPECT_EQ(must_be_one_of("x", known), "must be one of squared, huber");
}

}  // namespace
}  // namespace drift
