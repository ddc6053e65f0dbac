#include "drift/version.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace drift {
namespace {

// The tests hold the library's code themselves, so its build ID is theirs, and their file has it in a note: after "GNU" and a
// zero.
TEST(BuildId, IsInTheProgramsFile) {
  const std::string id = build_id();
  if (id == version()) GTEST_SKIP() << "this linker makes no build ID";
  ASSERT_EQ(id.size() % 2, 0U) << id;
  std::string note("GNU\0", 4);
  for (std::size_t i = 0; i < id.size(); i += 2) note += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(all.find(note), std::string::npos) << id;
  note.back() = static_cast<char>(note.back() + 1);
  EXPECT_EQ(all.find(note), std::string::npos) << "else any ID would be found";
}

}  // namespace
}  // namespace drift
