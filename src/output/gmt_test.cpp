#include "output/gmt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "output/plot_figure.h"

namespace drift {
namespace {

using testing::HasSubstr;

class Gmt : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low";
  }
};

// Sets an environment variable while it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { ::setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

TEST(GmtMissing, IsSaidAtOnceWithWhatToInstall) {
  const Setting nowhere("PATH", "/nonexistent");
  try {
    const GmtSession session("drift plot draws");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("drift plot draws with GMT, which is not installed: apt-get install gmt gmt-gshhg-low"));
  }
}

TEST_F(Gmt, HandsBytesInAndOut) {
  const GmtSession session("test");
  const std::vector<double> rows = {1.5, 2.0, 3.0, 4.25};
  const std::string text =
      session.run({"convert", "-bi2d"}, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)});
  EXPECT_EQ(text, "1.5\t2\n3\t4.25\n");
}

TEST_F(Gmt, TakesMoreInputAndOutputThanAPipeHolds) {
  const GmtSession session("test");
  const std::vector<double> rows(400000, 7.0);
  const std::string bytes =
      session.run({"convert", "-bi2d", "-bo2d"}, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)});
  EXPECT_EQ(bytes.size(), rows.size() * sizeof(double));
}

TEST_F(Gmt, SaysWhatWentWrongInGmtsWords) {
  const GmtSession session("test");
  try {
    session.run({"grdinfo", "no_such_grid.nc"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gmt grdinfo no_such_grid.nc"));
    EXPECT_THAT(error.what(), HasSubstr("[ERROR]"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

TEST_F(Gmt, NeverPassesWordsThroughAShell) {
  const GmtSession session("test");
  EXPECT_THROW(session.run({"grdinfo", "; touch broken_out"}), Error);
  EXPECT_FALSE(std::filesystem::exists(session.folder() / "broken_out"));
}

TEST_F(Gmt, LeavesNoFolderBehind) {
  std::filesystem::path folder;
  {
    const GmtSession session("test");
    folder = session.folder();
    EXPECT_TRUE(std::filesystem::is_directory(folder));
    session.run({"convert"}, std::string("1 2\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(Gmt, IsNotDisturbedByTheUsersSettings) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "gmt.conf") << "PROJ_LENGTH_UNIT = inch\nFORMAT_FLOAT_OUT = %.1f\n";
  const Setting home("HOME", (scratch / "").string());
  const GmtSession session("test");
  EXPECT_EQ(session.run({"convert"}, std::string("1.25 2.5\n")), "1.25\t2.5\n");
}

TEST_F(Gmt, SessionsSideBySideKeepApart) {
  std::vector<std::string> sizes(3);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      threads.emplace_back([&sizes, i] {
        try {
          const GmtSession session("test");
          session.run({"begin", "picture", "ps"});
          session.run({"basemap", "-R0/" + std::to_string(i + 1) + "/0/1", "-Jx1c", "-B0"});
          sizes[i] = session.run({"mapproject", "-W", "--PROJ_LENGTH_UNIT=c"});  // from this session's history
        } catch (const Error& error) {
          sizes[i] = error.what();
        }
      });
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::string>{"1\t1\n", "2\t1\n", "3\t1\n"}));
}

// It would draw with settings of its own, and say nothing.
TEST_F(Gmt, WhoseSettingsCannotBeWrittenDrawsNothing) {
  const GmtSession session("test");
  std::filesystem::create_directory(session.folder() / "gmt.conf");
  EXPECT_THAT([&] { draw_figure(session, {}, "png"); }, testing::ThrowsMessage<Error>(HasSubstr("gmt.conf: Is a directory")));
}

}  // namespace
}  // namespace drift
