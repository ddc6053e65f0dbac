#include "core/whole_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/atomic_file.h"
#include "core/scratch_folder.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(WholeFile, IsReadAsItWasWrittenHoweverLong) {
  const ScratchFolder folder;
  std::string bytes(std::size_t{9} << 20, '\0');  // more than two blocks
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 24);
  for (const std::string& text : {bytes, std::string("short"), std::string()}) {
    write_whole_file(folder / "f", text);
    EXPECT_TRUE(read_whole_file(folder / "f") == text) << text.size();
  }
}

TEST(WholeFile, ThatCannotBeReadOrWrittenIsAnErrorWithItsReason) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { read_whole_file(folder / "none"); }, ThrowsMessage<Error>(HasSubstr("No such file or directory")));
  EXPECT_THAT([] { read_whole_file("/"); }, ThrowsMessage<Error>(HasSubstr("cannot read /: Is a directory")));
  EXPECT_THAT([&] { write_whole_file(folder / "none/f", std::string("x")); }, ThrowsMessage<Error>(HasSubstr("cannot write")));
  EXPECT_THAT([] { write_whole_file("/dev/full", std::string("x")); },
              ThrowsMessage<Error>(HasSubstr("cannot write /dev/full: No space left on device")));
}

TEST(WholeFile, IsWrittenAtAnyPlace) {
  const ScratchFolder folder;
  {
    const FileDescriptor file(::open((folder / "f").c_str(), O_WRONLY | O_CREAT, 0600));
    write_at(file.get(), folder / "f", std::as_bytes(std::span<const char>("cd", 2)), 2);
    write_at(file.get(), folder / "f", std::as_bytes(std::span<const char>("ab", 2)), 0);
  }
  EXPECT_EQ(read_bytes(folder / "f"), "abcd");
}

}  // namespace
}  // namespace drift
