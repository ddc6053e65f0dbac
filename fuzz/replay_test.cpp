// The kept inputs of every fuzz target, as a test that needs no fuzzer: seeds, and whatever once made a target fail.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "target.h"

namespace drift::fuzz {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const FuzzTarget* target : FuzzTarget::all()) found.emplace_back(target->name);
  return found;
}

class FuzzCorpus : public testing::TestWithParam<std::string> {};

TEST_P(FuzzCorpus, RunsThrough) {
  const FuzzTarget* target = nullptr;
  for (const FuzzTarget* each : FuzzTarget::all()) {
    if (each->name == GetParam()) target = each;
  }
  ASSERT_NE(target, nullptr);
  std::size_t accepted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(DRIFT_FUZZ_CORPUS) / GetParam())) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    accepted += target->run(whole) ? 1 : 0;
    // Cut and flipped: a seed alone only shows that what is right is taken.
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 40) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
      target->run(damaged);
      target->run(whole.substr(0, at));
    }
  }
  EXPECT_GT(accepted, 0u) << "fuzz/corpus/" << GetParam() << " has no seed that is right: make_fuzz_seeds, fuzz/make_seeds.cpp";
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(names()), [](const auto& target) { return target.param; });

}  // namespace
}  // namespace drift::fuzz
