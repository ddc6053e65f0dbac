#include <gtest/gtest.h>

#include <algorithm>

#include "drift/version.h"
#include "run_command.h"

namespace {

TEST(Command, PrintsItsVersion) {
  const FinishedRun run = run_command("--version");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, std::string("drift ") + drift::version() + "\n");
}

TEST(Command, ExplainsEveryVerbInItsHelp) {
  const FinishedRun run = run_command("--help");
  EXPECT_EQ(run.status, 0);
  for (const char* verb :
       {"demo", "inspect", "simulate", "fit", "tune", "predict", "score", "compare", "plot", "bench", "completion"}) {
    EXPECT_TRUE(contains(run.out, verb)) << run.out;
    const FinishedRun help = run_command(std::string(verb) + " --help");
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_TRUE(contains(help.out, "--help")) << help.out;
    EXPECT_EQ(help.err, "") << verb;
  }
}

// Status 2, nothing on stdout, one line on stderr that says what is wrong.
void expect_wrong_usage(const std::string& arguments, const std::string& message) {
  const FinishedRun run = run_command(arguments);
  EXPECT_EQ(run.status, 2) << arguments;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_TRUE(run.err.starts_with("drift: ")) << run.err;
  EXPECT_TRUE(contains(run.err, message)) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST(Command, AsksForAVerb) { expect_wrong_usage("", "a verb is missing: demo, inspect"); }

TEST(Command, SuggestsTheNearestVerb) {
  expect_wrong_usage("dmeo", "drift has no verb 'dmeo'; did you mean 'demo'?");
  expect_wrong_usage("bench trian", "drift bench has no verb 'trian'; did you mean 'train'?");
}

TEST(Command, SuggestsTheNearestOption) {
  expect_wrong_usage("demo --observation 100", "drift demo has no option '--observation'; did you mean '--observations'?");
  expect_wrong_usage("bench train --thread=2", "did you mean '--threads'?");
}

TEST(Command, SaysThatAnOptionNeedsAValue) {
  expect_wrong_usage("tune --show", "--show needs a value");
  expect_wrong_usage("fit --out", "--out needs a value");
}

TEST(Command, RefusesValuesOutOfRangeAndNamesTheOption) {
  expect_wrong_usage("demo --members 0", "--members");
  expect_wrong_usage("demo --members -3", "--members -3: must be at least 1 and at most 1000");
  expect_wrong_usage("demo --observations many", "--observations");
  expect_wrong_usage("demo --recipe soup", "--recipe");
  expect_wrong_usage("plot map.nc --panels bth", "--panels: 'bth' must be one of auto, mean, sd, both; did you mean 'both'?");
  expect_wrong_usage("bench train --recipe papr", "did you mean 'paper'?");
  expect_wrong_usage("bench train --frequencies soup", "must be one of independent, orthogonal, structured");
  expect_wrong_usage("score --forecasts t.csv --by dya", "did you mean 'day'?");
  expect_wrong_usage("demo --epochs 0", "--epochs");
  expect_wrong_usage("demo --epochs nan", "--epochs nan: must be a number");
  expect_wrong_usage("demo --seed -1", "--seed");
  expect_wrong_usage("demo --observations 1e5", "--observations");
  expect_wrong_usage("bench train --seconds 0", "--seconds");
  expect_wrong_usage("bench predict --threads 99999", "--threads");
}

}  // namespace
