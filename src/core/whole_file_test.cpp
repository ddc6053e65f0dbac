#include "core/whole_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(BoundedFile, IsAFileOrPipeOfLimitedSize) {
  const ScratchFolder folder;
  const auto refusal = [](const std::filesystem::path& path, std::size_t most) -> std::string {
    try {
      read_bounded_file(path, "a list", most);
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": ")) << error.what();
      return std::string(error.what()).substr(path.string().size() + 2);
    }
    return "";
  };
  const std::string text(200'000, 'x');
  write_bytes(folder / "f", text);
  EXPECT_TRUE(read_bounded_file(folder / "f", "a list", text.size()) == text);
  EXPECT_EQ(refusal(folder / "f", text.size() - 1), "is larger than a list may be (199999 bytes)");
  EXPECT_EQ(refusal(folder / "none", 1), "cannot be read: No such file or directory");
  EXPECT_EQ(refusal("/", 1), "is a folder, not a list");
  EXPECT_EQ(refusal("/dev/zero", 1), "is neither a regular file nor a pipe, so not a list");
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "abc", 3), 3);
  ::close(ends[1]);
  EXPECT_EQ(read_bounded_file("/proc/self/fd/" + std::to_string(ends[0]), "a list", 3), "abc");
  ::close(ends[0]);
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
