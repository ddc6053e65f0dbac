#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "comparing/compare_parts.h"
#include "drift/compare.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ComparedFit fit_with(const std::string& method, std::uint64_t seed, double rmse, double coverage) {
  return {.method = method, .seed = seed, .measures = {{"rmse", rmse}, {"coverage90", coverage}, {"fit_s", rmse}}};
}

TEST(Summarise, TakesMeanSpreadAndRanks) {
  const std::vector<ComparedMethod> rows = summarise({"a", "b", "c", "d", "e"}, 2,
                                                     {fit_with("a", 1, 1.0, 0.99),
                                                      fit_with("a", 2, 3.0, 0.99),
                                                      fit_with("b", 1, 1.5, 0.8),
                                                      fit_with("c", 1, 2.0, 0.91),
                                                      fit_with("d", 1, 9.0, 0.2),
                                                      {.method = "e", .seed = 1, .failure = "no"}});
  EXPECT_DOUBLE_EQ(rows[0].measures.at("rmse").mean, 2.0);
  EXPECT_DOUBLE_EQ(rows[0].measures.at("rmse").sd, std::sqrt(2.0));
  EXPECT_EQ(rows[0].fits, 2u);
  EXPECT_EQ(rows[1].fits, 1u);
  std::vector<int> rmse, coverage;
  for (std::size_t i = 0; i < 4; ++i) {
    rmse.push_back(rows[i].measures.at("rmse").rank);
    coverage.push_back(rows[i].measures.at("coverage90").rank);
    EXPECT_EQ(rows[i].measures.at("fit_s").rank, 0) << "costs are not ranked";
  }
  EXPECT_THAT(rmse, ElementsAre(2, 1, 2, 0)) << "equal means share a rank, the fourth has none";
  EXPECT_THAT(coverage, ElementsAre(2, 3, 1, 0)) << "by the distance from 90 %";
  EXPECT_EQ(summarise({"a"}, 1, {fit_with("a", 1, 1.0, 0.9)})[0].measures.at("rmse").rank, 0) << "nothing to compare with";
}

TEST(ComparisonTable, SaysTheSameInAllForms) {
  Comparison comparison = {.finished = true, .variable = "ssh", .unit = "m", .training = 12345, .held_out = 678};
  comparison.split = "whole tracks";
  comparison.calibrate = CalibrationMethod::scale;
  comparison.threads = 2;
  comparison.rows = summarise({"a:k=1,l=2", "b"}, 2,
                              {fit_with("a:k=1,l=2", 1, 0.1234, 0.9), fit_with("a:k=1,l=2", 2, 0.1236, 0.9),
                               fit_with("b", 1, 0.2, 0.8), fit_with("b", 2, 0.2, 0.8)});
  const std::string text = comparison_text(comparison, false), markdown = comparison_markdown(comparison);
  EXPECT_THAT(text, HasSubstr("12,345 observations train, 678 held out (whole tracks)"));
  EXPECT_THAT(text, HasSubstr("0.123 ± 0.000 1st"));
  EXPECT_THAT(text, HasSubstr("0.200 ± 0.000 2nd"));
  EXPECT_THAT(text, HasSubstr("RMSE [m]"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(comparison_text(comparison, true), HasSubstr("\033[1;32m0.123"));
  EXPECT_THAT(markdown, HasSubstr("| `a:k=1,l=2` | **0.123 ± 0.000** |"));
  EXPECT_THAT(markdown, HasSubstr("0.200 ± 0.000 (2nd)"));
  const nlohmann::json json = nlohmann::json::parse(comparison_json(comparison));
  EXPECT_DOUBLE_EQ(json["methods"][0]["measures"]["rmse"]["mean"].get<double>(), 0.1235);
  EXPECT_EQ(json["methods"][0]["measures"]["rmse"]["rank"], 1);
  std::istringstream lines(comparison_csv(comparison));
  std::string head, row;
  std::getline(lines, head), std::getline(lines, row);
  EXPECT_THAT(head, HasSubstr("method,title,fits,seeds,failure,rmse,rmse_sd,rmse_rank,mae"));
  EXPECT_THAT(row, HasSubstr("\"a:k=1,l=2\","));
  EXPECT_THAT(row, HasSubstr(",2,2,,0.1235,"));
}

TEST(ComparisonTable, MarksScoresOfObservationsThatAlsoCalibrated) {
  ComparedFit fit = fit_with("a", 1, 0.1, 0.9);
  Comparison comparison;
  for (const bool calibrated : {false, true}) {
    fit.measures["scores_calibrated"] = calibrated ? 1.0 : 0.0;
    comparison.rows = summarise({"a"}, 1, {fit});
    EXPECT_EQ(nlohmann::json::parse(comparison_json(comparison))["scores_also_calibrated"], calibrated);
    EXPECT_THAT(comparison_text(comparison, false), HasSubstr(calibrated ? "scores are optimistic" : "the second half gives"));
    EXPECT_THAT(comparison_markdown(comparison), HasSubstr(calibrated ? "scores are optimistic" : "the second half gives"));
  }
}

TEST(ComparedFit, ComesBackFromJson) {
  const ComparedFit fit = {.method = "nngp:neighbours=64",
                           .seed = 7,
                           .failure = "",
                           .measures = {{"rmse", 0.1}},
                           .findings = {{"lengthscale", "3 km"}}};
  const ComparedFit back = compared_fit_from_json(to_json(fit));
  EXPECT_EQ(back.method, fit.method);
  EXPECT_EQ(back.seed, fit.seed);
  EXPECT_EQ(back.measures, fit.measures);
  EXPECT_EQ(back.findings, fit.findings);
  EXPECT_THROW(compared_fit_from_json("{\"method\": 3}"), Error);
  for (const char* seed : {"1e300", "-1", "2.5", "18446744073709551616", "\"7\"", "null"}) {
    const std::string text =
        fmt::format(R"({{"method": "m", "seed": {}, "failure": "", "measures": {{}}, "findings": []}})", seed);
    EXPECT_THAT(
        [&] { compared_fit_from_json(text); },
        testing::ThrowsMessage<Error>("the saved result of a fit: its \"seed\" is not a whole number; --fresh repeats the fit"));
  }
  EXPECT_THAT(
      [] { compared_fit_from_json(std::string(300'000, '[')); },
      testing::ThrowsMessage<Error>("the saved result of a fit: the JSON is nested more than 16 deep; --fresh repeats the fit"));
}

}  // namespace
}  // namespace drift
