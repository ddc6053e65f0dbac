#include "fields/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"

namespace drift {
namespace {

TEST(Sources, AreNamedWithTheirChecksums) {
  const ScratchFolder folder;
  write_bytes(folder / "a.csv", "abc");
  const std::vector<SourceFile> sources =
      sources_of({(folder / "*.csv").string(), "https://example.org/b.nc", "/no/such/file.nc"}, 2);
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sources, (std::vector<SourceFile>{{"b.nc", ""}, {"a.csv", abc}}));
  EXPECT_EQ(sources_text(sources), "-  b.nc\n" + abc + "  a.csv\n");
  EXPECT_EQ(sources_from_text(sources_text(sources)), sources);
  EXPECT_EQ(sources_line(sources), "b.nc, a.csv (sha256 " + abc + ")");
  EXPECT_TRUE(sources_from_text("").empty());
  EXPECT_THROW(sources_from_text("a.csv\n"), Error);
  EXPECT_THAT(sources_line(std::vector<SourceFile>(103, {"x", ""})),
              testing::EndsWith("x and 3 more, which the model's file lists"));
}

}  // namespace
}  // namespace drift
