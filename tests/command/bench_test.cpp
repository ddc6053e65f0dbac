#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "drift/engine.h"
#include "run_command.h"

namespace {

// Small products and short runs: these tests show what is reported, not how fast the machine is.
constexpr const char* kQuick = " --matrix-size 256 --seconds 0.05 --threads 2";

nlohmann::json report_of(const std::string& arguments) {
  const FinishedRun run = run_command(arguments + kQuick + " --json");
  EXPECT_EQ(run.status, 0) << run.err;
  return nlohmann::json::parse(run.out);
}

void expect_common_keys(const nlohmann::json& report) {
  for (const char* key : {"gflops", "gemm_gflops", "fraction_of_gemm", "peak_rss_mb", "seconds"}) {
    ASSERT_TRUE(report.contains(key)) << key;
    EXPECT_GT(report[key].get<double>(), 0.0) << key;
  }
  EXPECT_NEAR(report["fraction_of_gemm"].get<double>(), report["gflops"].get<double>() / report["gemm_gflops"].get<double>(),
              1e-9);
  EXPECT_EQ(report["threads"], 2);
  EXPECT_EQ(report["backend"], "cpu");
  EXPECT_FALSE(report["gemm_library"].get<std::string>().empty());
  EXPECT_NE(report["flops_counted"].get<std::string>().find("unnecessary"), std::string::npos);
}

TEST(BenchTrain, ReportsRateAndOperationsOfThePapersNetwork) {
  const nlohmann::json report = report_of("bench train --observations 5000 --batch 64");
  expect_common_keys(report);
  EXPECT_EQ(report["members"], 2) << "as many as threads unless told";
  EXPECT_EQ(report["batch"], 64);
  EXPECT_EQ(report["recipe"], "paper");
  EXPECT_EQ(report["statistic"], "total over the run");
  EXPECT_FALSE(report.contains("copies_s")) << "there are none";
  EXPECT_NEAR(report["flops_per_member_sample"].get<double>(), 4.9e6, 0.05e6);
  EXPECT_NEAR(report["gflops"].get<double>(),
              report["member_samples_per_s"].get<double>() * report["flops_per_member_sample"].get<double>() * 1e-9,
              1e-6 * report["gflops"].get<double>());
}

TEST(BenchTrain, TakesDriftsOwnRecipe) {
  const nlohmann::json report = report_of("bench train --observations 2000 --batch 32 --members 1 --recipe default");
  EXPECT_EQ(report["recipe"], "default");
  EXPECT_EQ(report["members"], 1);
}

TEST(BenchTrain, PutsTheSpheresFirstLayerBesideThePlanes) {
  const nlohmann::json report = report_of("bench train --observations 1000 --batch 32 --members 1 --spherical");
  EXPECT_GT(report["first_layer_sphere_ns"].get<double>(), 0.0);
  EXPECT_GT(report["first_layer_plane_ns"].get<double>(), 0.0);
  EXPECT_EQ(report["network"], "spherical");
}

TEST(BenchTrain, HoldsTenMembersAndAMillionObservationsInUnder700Megabytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const nlohmann::json report = report_of("bench train --observations 1160000 --members 10 --batch 1024");
  EXPECT_LT(report["peak_rss_mb"].get<double>(), 700.0);
}

TEST(BenchPredict, ReportsPointsAndPointsTimesMembers) {
  const nlohmann::json report = report_of("bench predict --points 500 --members 3");
  expect_common_keys(report);
  EXPECT_NEAR(report["member_points_per_s"].get<double>(), 3.0 * report["points_per_s"].get<double>(),
              1e-6 * report["member_points_per_s"].get<double>());
}

// Figures of a GPU: whose product stands beside them, and what of the copies is in them, must be plain.
TEST(BenchOnAGpu, TellsStepsFromCopiesAndNamesWhatMeasuredTheCard) {
  if (const std::string why = drift::why_no_cuda(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  const nlohmann::json train = report_of("bench train --backend cuda --observations 20000 --members 2");
  const nlohmann::json predict = report_of("bench predict --backend cuda --points 20000 --members 2");
  for (const char* key : {"step_ms", "copies_s", "steps_timed", "pairs"}) {
    ASSERT_TRUE(train.contains(key)) << key;
    EXPECT_GT(train[key].get<double>(), 0.0) << key;
  }
  EXPECT_GE(train["pairs"], 5);
  EXPECT_NEAR(train["member_samples_per_s"].get<double>(), 2048e3 / train["step_ms"].get<double>(),
              1e-6 * train["member_samples_per_s"].get<double>());
  EXPECT_TRUE(contains(predict["statistic"], "including copies to and from the GPU"));
  for (const nlohmann::json& report : {train, predict}) {
    EXPECT_EQ(report["backend"], "cuda");
    EXPECT_EQ(report["precision"], "tf32");
    for (const char* key : {"gemm_gflops", "fraction_of_gemm", "gemm_library"}) {
      ASSERT_TRUE(report.contains(key)) << key;
      EXPECT_EQ(report[key].is_null(), report["gemm_library"].is_null()) << key;
    }
    if (report["gemm_library"].is_null()) continue;
    EXPECT_NEAR(report["fraction_of_gemm"].get<double>(), report["gflops"].get<double>() / report["gemm_gflops"].get<double>(),
                1e-9);
  }
}

TEST(BenchOnAGpu, SaysThatThereIsNone) {
  if (drift::why_no_cuda().empty()) GTEST_SKIP() << "there is one";
  const FinishedRun run = run_command("bench train --backend cuda");
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(contains(run.err, "GPU")) << run.err;
}

TEST(BenchBaselines, ReportsEachPartBesideTheMachine) {
  const nlohmann::json report = report_of(
      "bench baselines --observations 3000 --points 500 --neighbours 16 --inducing 30 --batch 64 --steps 5 --experts 9 "
      "--observations-each 60");
  EXPECT_GT(report["gemm_gflops"].get<double>(), 0.0);
  EXPECT_EQ(report["threads"], 2);
  EXPECT_NEAR(report["nngp"]["observations"].get<double>(), 3000.0, 30.0);
  EXPECT_NEAR(report["nngp"]["points_per_s"].get<double>(), 500.0 / report["nngp"]["predict_s"].get<double>(),
              1e-6 * report["nngp"]["points_per_s"].get<double>());
  EXPECT_EQ(report["svgp"]["inducing"], 30);
  EXPECT_TRUE(report["svgp"].contains("step_ms"));
  EXPECT_GT(report["experts"]["fit_s"].get<double>(), 0.0);
  EXPECT_GT(report["experts"]["experts"].get<double>(), 1.0) << "as many as there were, not as were asked for";
  for (const char* network : {"mlp", "siren"}) EXPECT_GT(report[network]["fraction_of_gemm"].get<double>(), 0.0) << network;
}

TEST(BenchBaselines, DoesWhatIsAskedForAlone) {
  const nlohmann::json report = report_of("bench baselines --only neural");
  EXPECT_TRUE(report.contains("siren"));
  EXPECT_FALSE(report.contains("nngp"));
}

TEST(Bench, TellsPeopleTheSame) {
  const FinishedRun run = run_command(std::string("bench predict --points 500 --members 1") + kQuick);
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* said : {"points per second", "GFLOP/s", "% of this machine's best product", "1 member on 2 threads"}) {
    EXPECT_TRUE(contains(run.out, said)) << run.out;
  }
}

}  // namespace
