#include "drift/enum_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "drift/backend.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;

TEST(EnumWords, LeadToTheEnumeratorAndBack) {
  static_assert(word_of(Backend::automatic) == "auto");
  static_assert(from_word<Precision>("bf16") == Precision::bf16);
  for (const Backend backend : {Backend::automatic, Backend::cpu, Backend::cuda}) {
    EXPECT_EQ(from_word<Backend>(word_of(backend)), backend);
  }
  EXPECT_THAT(words_of<Precision>(), ElementsAre("float32", "tf32", "bf16"));
}

TEST(EnumWords, AreTakenToTheLetter) {
  EXPECT_FALSE(from_word<Backend>("CPU"));
  EXPECT_FALSE(from_word<Backend>(""));
  EXPECT_EQ(word_of(static_cast<Backend>(17)), "");
}

TEST(EnumNamed, RefusesOtherWordsWithTheNearest) {
  EXPECT_EQ(enum_named<Backend>("--backend", "cuda"), Backend::cuda);
  try {
    enum_named<Backend>("--backend", "cdua");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "--backend cdua: must be one of auto, cpu, cuda; did you mean 'cuda'?");
  }
}

}  // namespace
}  // namespace drift
