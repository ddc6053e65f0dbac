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

// The number is that of: cd a.zarr; find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum
TEST(Sources, OfFoldersAreKnownByTheFilesInThem) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "a.zarr/ssh");
  write_bytes(folder / "a.zarr/.zgroup", "{}");
  write_bytes(folder / "a.zarr/ssh/0.0", "abc");
  const std::string store = (folder / "a.zarr").string();
  const std::string whole = "adee4a43ec21d4bb1033d47d79127835c8b8c9977e65de3996c93c35b8c3f9c2";
  EXPECT_EQ(sources_of({store}, 1), (std::vector<SourceFile>{{"a.zarr", whole}}));
  EXPECT_EQ(sources_of({store + "/"}, 1), (std::vector<SourceFile>{{"a.zarr", whole}}));
  write_bytes(folder / "a.zarr/ssh/0.0", "abd");
  EXPECT_NE(sources_of({store}, 1).front().sha256, whole);
  std::filesystem::rename(folder / "a.zarr/ssh/0.0", folder / "a.zarr/ssh/0.1");
  write_bytes(folder / "a.zarr/ssh/0.1", "abc");
  EXPECT_NE(sources_of({store}, 1).front().sha256, whole);
}

}  // namespace
}  // namespace drift
