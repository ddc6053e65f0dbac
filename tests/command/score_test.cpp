// `drift score` on files that do not go with the model, and warnings of all verbs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "small_run.h"

namespace {

std::string model() { return (small_run() / "model.safetensors").string(); }

class Score : public testing::Test {
 protected:
  FinishedRun score(const std::string& table, const std::string& flags = "") const {
    std::ofstream(folder_.path() / "seen.csv") << table;
    return run_shell(folder_.path(), fmt::format("drift score '{}' seen.csv --value ssh {}", model(), flags));
  }

  void expect_refusal(const std::string& table, const std::string& message, const std::string& flags = "") const {
    const FinishedRun refused = score(table, flags);
    EXPECT_EQ(refused.status, 2) << refused.out;
    EXPECT_TRUE(contains(refused.err, message)) << refused.err;
    EXPECT_FALSE(contains(refused.out, "RMSE")) << refused.out;
  }

  TemporaryFolder folder_;
};

TEST_F(Score, RefusesFilesOfAnotherKindThanTheModels) {
  expect_refusal("lon,lat,time,ssh\n-30,40,1,0.1\n-31,41,2,0.2\n",
                 "the model's times are dates, those of the observations plain");
  expect_refusal("x,y,time,ssh\n-30,40,2020-03-03,0.1\n-31,41,2020-03-03,0.2\n", "defined on longitudes and latitudes");
  expect_refusal("lon,lat,time,ssh\n-30,40,2020-03-03,0.1\n-31,41,2020-03-03,0.2\n", "in m, those of the observations in cm",
                 "--units cm");
}

TEST_F(Score, WarnsOfObservationsFarFromTheModelsInTimeAndSpace) {
  const std::string near = "lon,lat,time,ssh\n-30,40,2020-03-03,0.1\n-31,41,2020-03-03,0.2\n";
  const FinishedRun inside = score(near, "--quiet");
  ASSERT_EQ(inside.status, 0) << inside.err;
  EXPECT_FALSE(contains(inside.err, "some points lie")) << inside.err;
  EXPECT_FALSE(contains(inside.err, "from any observation")) << inside.err;
  for (const char* flags : {"", "--quiet", "--json"}) {
    const FinishedRun outside = score(near + "-30,40,1992-11-01,0.1\n150,-40,2020-03-03,0.3\n", flags);
    ASSERT_EQ(outside.status, 0) << outside.err;
    EXPECT_TRUE(contains(outside.err, "warning: some points lie up to 9.98e+03 days before the first observation"))
        << outside.err;
    EXPECT_TRUE(contains(outside.err, "warning: 1 of 4 points lie more than")) << outside.err;
    EXPECT_FALSE(contains(outside.out, "warning")) << outside.out;
  }
}

// Times without a unit that look like years.
TEST(Warnings, GoToStandardErrorHoweverQuietTheVerb) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "years.csv");
  table << "lon,lat,time,ssh\n";
  for (int i = 0; i < 400; ++i)
    table << fmt::format("{},{},{},{}\n", -30.0 + 0.05 * i, 40.0 + i % 20, 2000 + i % 10, 0.1 * (i % 7));
  table.close();
  const std::string warning = "drift: warning: times have no unit";
  for (const std::string verb : {"fit", "tune --study s.json", "compare --folder results --method nngp"}) {
    for (const std::string flag : {"--quiet", "--json"}) {
      const std::string rest = verb == "fit" ? " --plan" : verb.starts_with("compare") ? " --plan" : " --trials 1 --epochs 0.01";
      const FinishedRun run = run_shell(folder.path(), fmt::format("drift {} years.csv --value ssh{} {}", verb, rest, flag));
      EXPECT_TRUE(contains(run.err, warning)) << verb << flag << run.err;
      EXPECT_FALSE(contains(run.out, "warning")) << verb << flag << run.out;
    }
  }
}

TEST(Warnings, AreNotSilencedByQuietAsEveryHelpSays) {
  for (const std::string verb : {"demo", "simulate", "fit", "tune", "predict", "score", "compare", "plot"}) {
    const FinishedRun help = run_command(verb + " --help");
    EXPECT_TRUE(contains(help.out, "errors and warnings only")) << help.out;
  }
}

}  // namespace
