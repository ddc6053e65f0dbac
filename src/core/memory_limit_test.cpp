#include "core/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/scratch_folder.h"

namespace drift {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(GroupMemoryLimit, IsTheLeastOfTheGroupAndThoseAroundIt) {
  const ScratchFolder folder;
  const std::string groups = "0::/jobs/one/step\n";
  EXPECT_FALSE(group_memory_limit(folder / "", groups));
  write(folder / "jobs/one/step/memory.max", "max\n");
  EXPECT_FALSE(group_memory_limit(folder / "", groups));
  write(folder / "jobs/one/memory.max", "4000\n");
  EXPECT_EQ(group_memory_limit(folder / "", groups), 4000.0);
  write(folder / "jobs/memory.max", "3000\n");
  EXPECT_EQ(group_memory_limit(folder / "", groups), 3000.0);
  write(folder / "other/memory.max", "10\n");
  EXPECT_EQ(group_memory_limit(folder / "", groups), 3000.0);
}

TEST(GroupMemoryLimit, InAContainerIsThatOfTheRoot) {
  const ScratchFolder folder;
  write(folder / "memory.max", "2000\n");
  EXPECT_EQ(group_memory_limit(folder / "", "0::/\n"), 2000.0);
  EXPECT_EQ(group_memory_limit(folder / "", "0::/system.slice/docker-1234.scope\n"), 2000.0);
}

TEST(GroupMemoryLimit, KnowsTheFirstVersionOfControlGroups) {
  const ScratchFolder folder;
  write(folder / "memory/docker/memory.limit_in_bytes", "1000\n");
  EXPECT_EQ(group_memory_limit(folder / "", "5:cpu,cpuacct:/docker\n4:memory:/docker\n"), 1000.0);
}

TEST(MemoryLimit, IsPositiveAndNoMoreThanTheGroupAllows) { EXPECT_GT(memory_limit_bytes(), 1e6); }

}  // namespace
}  // namespace drift
