// What --json prints is JSON, whatever names files and columns have.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "small_run.h"

namespace {

TEST(Json, OfNamesWithControlCharactersIsJson) {
  const TemporaryFolder folder;
  const std::string name = "v\x7f\xc2\x80\xc2\x9f\xc2\xa0w";  // DEL, U+0080, U+009F, and U+00A0, which is no control character
  std::string text = "lon,lat," + name + "\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i) + "," + std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "\n";
  std::ofstream(folder.path() / "t.csv", std::ios::binary) << text;
  const FinishedRun run = run_shell(folder.path(), "drift inspect t.csv --value '" + name + "' --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.find('\x7f'), std::string::npos);
  EXPECT_EQ(run.out.find("\xc2\x9f"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(run.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << run.out;
  EXPECT_TRUE(contains(json.dump(), name)) << run.out;
}

}  // namespace
