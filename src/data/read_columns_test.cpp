#include "drift/read_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadColumns, TakesColumnsByNameAndLeavesOutRowsWithGaps) {
  const ScratchFolder folder;
  write_bytes(folder / "t.csv", "name,\"true value\",mean,sd\nA,1,1.5,0.1\nB,NA,2,0.2\n\"C, too\",3e0,2.5,0.3\n");
  const Columns columns = read_columns(folder / "t.csv", {"mean", "true value"});
  EXPECT_THAT(columns.values[0], ElementsAre(1.5, 2.5));
  EXPECT_THAT(columns.values[1], ElementsAre(1.0, 3.0));
  EXPECT_EQ(columns.missing, 1u);
}

TEST(ReadColumns, NamesTheNearestColumnAndTheLine) {
  const ScratchFolder folder;
  write_bytes(folder / "t.csv", "truth,mean\n1,2\n1,two\n");
  const auto why = [&](const std::vector<std::string>& names) -> std::string {
    try {
      read_columns(folder / "t.csv", names);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(why({"trueth"}), HasSubstr("did you mean 'truth'?"));
  EXPECT_THAT(why({"mean"}), HasSubstr("t.csv:3: \"two\" is not a number"));
}

}  // namespace
}  // namespace drift
