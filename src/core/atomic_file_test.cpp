#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <span>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/files.h"

namespace drift {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

// Begins to write and is gone, as if killed.
void leave_behind(const fs::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto* const file = new AtomicFile(path);  // NOLINT(*-owning-memory): never destroyed
    file->write(std::as_bytes(std::span("half")));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

TEST(AtomicFile, KeepsThePermissionsOfWhatItReplaces) {
  const ScratchFolder folder;
  write_bytes(folder / "secret", "old");
  ::chmod((folder / "secret").c_str(), 0600);
  write_text_file(folder / "secret", "new");
  EXPECT_EQ(read_bytes(folder / "secret"), "new");
  EXPECT_EQ(mode_of(folder / "secret"), 0600U);
  ::chmod((folder / "secret").c_str(), 0664);
  write_text_file(folder / "secret", "newer");
  EXPECT_EQ(mode_of(folder / "secret"), 0664U);
}

TEST(AtomicFile, IsReadableByNoOneElseWhileItReplacesASecret) {
  const ScratchFolder folder;
  write_bytes(folder / "secret", "old");
  ::chmod((folder / "secret").c_str(), 0600);
  const AtomicFile file(folder / "secret");
  for (const auto& entry : fs::directory_iterator(file.path().parent_path())) EXPECT_EQ(mode_of(entry.path()), 0600U);
}

TEST(AtomicFile, GoesThroughALinkThatLeadsNowhereYet) {
  const ScratchFolder folder;
  fs::create_symlink("real", folder / "link");
  write_text_file(folder / "link", "text");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "real"), "text");
  EXPECT_EQ(folder.files(), 2U);
}

TEST(AtomicFile, RefusesALinkThatLeadsToItself) {
  const ScratchFolder folder;
  fs::create_symlink("loop", folder / "loop");
  EXPECT_THROW(write_text_file(folder / "loop", "text"), Error);
}

TEST(AtomicFile, RemovesWhatAKilledRunLeftOfTheSameFile) {
  const ScratchFolder folder;
  leave_behind(folder / "model");
  leave_behind(folder / "other");
  ASSERT_EQ(folder.files(), 2U);
  write_text_file(folder / "model", "whole");
  EXPECT_EQ(read_bytes(folder / "model"), "whole");
  EXPECT_EQ(folder.files(), 2U);  // the model, and what was left of the other
}

TEST(AtomicFile, RemovesWhatAProcessLeftThatNobodyHasWaitedFor) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder / "model");
    ::kill(::getpid(), SIGKILL);
  }
  siginfo_t ended = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(folder.files(), 1U);
  write_text_file(folder / "model", "whole");
  EXPECT_EQ(folder.files(), 1U);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(RemoveWithAttempts, LeavesNothingOfAFileThatIsNotWrittenAgain) {
  const ScratchFolder folder;
  write_text_file(folder / "model.checkpoint", "done with");
  leave_behind(folder / "model.checkpoint");
  leave_behind(folder / "model");
  remove_with_attempts(folder / "model.checkpoint");
  EXPECT_EQ(folder.files(), 1U);  // of the model
  remove_with_attempts(folder / "none");
}

TEST(AtomicFile, LeavesAloneWhatALiveProcessIsWriting) {
  const ScratchFolder folder;
  std::array<int, 2> ready = {}, done = {};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  const pid_t child = ::fork();
  char byte = 0;
  if (child == 0) {
    AtomicFile file(folder / "model");
    file.write(std::as_bytes(std::span("child", 5)));
    (void)!::write(ready[1], &byte, 1);
    ::close(done[1]);
    (void)!::read(done[0], &byte, 1);
    file.commit();
    ::_exit(0);
  }
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  write_text_file(folder / "model", "parent");
  ::close(done[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_bytes(folder / "model"), "child");
}

TEST(AtomicFile, IsNotWrittenThroughALinkPutInItsPlace) {
  const ScratchFolder folder;
  write_bytes(folder / "victim", "precious");
  AtomicFile file(folder / "out");
  fs::path temporary;
  for (const auto& entry : fs::directory_iterator(file.path().parent_path())) {
    if (entry.path().extension() == ".part") temporary = entry.path();
  }
  fs::remove(temporary);
  fs::create_symlink(folder / "victim", temporary);
  const int by_name = ::open(file.for_libraries().c_str(), O_WRONLY | O_TRUNC);
  ASSERT_GE(by_name, 0);
  ::close(by_name);
  EXPECT_EQ(read_bytes(folder / "victim"), "precious");
  EXPECT_THROW(file.commit(), Error);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(CheckDistinct, KnowsAFileByAnyName) {
  const ScratchFolder folder;
  write_bytes(folder / "in", "x");
  fs::create_symlink("in", folder / "soft");
  fs::create_hard_link(folder / "in", folder / "hard");
  for (const fs::path& out : {folder / "in", folder / "soft", folder / "hard", (folder / ".") / "in"}) {
    EXPECT_THROW(check_distinct({{"the input", folder / "in"}}, {{"the output", out}}), UsageError) << out;
  }
  EXPECT_NO_THROW(check_distinct({{"the input", folder / "in"}, {"another", folder / "none"}}, {{"the output", folder / "out"}}));
}

TEST(CheckDistinct, KnowsTwoOutputsThatAreNotThereYet) {
  const ScratchFolder folder;
  fs::create_symlink("b", folder / "a");
  EXPECT_THROW(check_distinct({}, {{"one", folder / "a"}, {"two", folder / "b"}}), UsageError);
  EXPECT_NO_THROW(check_distinct({}, {{"one", folder / "a"}, {"two", folder / "c"}, {"none", {}}, {"none", {}}}));
}

}  // namespace
}  // namespace drift
