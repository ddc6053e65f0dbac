#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/predict.h"

namespace drift {
namespace {

using testing::ElementsAre;

FieldInfo span(const char* first, const char* last) {
  FieldInfo info = {.has_time = true, .calendar_time = true};
  parse_iso_time(first, info.first_time_days);
  parse_iso_time(last, info.last_time_days);
  return info;
}

std::vector<std::string> texts(const FieldInfo& info, const std::string& word) {
  std::vector<std::string> all;
  const std::optional<std::vector<double>> times = regular_times(info, word);
  if (!times) return {"not a word"};
  for (const double time : *times) all.push_back(iso_time(time));
  return all;
}

TEST(RegularTimes, AreThoseWithinTheObservationPeriod) {
  const FieldInfo days = span("2022-01-31T01:00", "2022-02-02T23:00");
  EXPECT_THAT(texts(days, "daily"), ElementsAre("2022-01-31T12:00:00Z", "2022-02-01T12:00:00Z", "2022-02-02T12:00:00Z"));
  EXPECT_THAT(texts(span("2022-02-01T18:00", "2022-02-02T14:00"), "daily"), ElementsAre("2022-02-02T12:00:00Z"));
  EXPECT_THAT(texts(span("2022-02-01T05:30", "2022-02-01T18:00"), "6-hourly"),
              ElementsAre("2022-02-01T06:00:00Z", "2022-02-01T12:00:00Z", "2022-02-01T18:00:00Z"));
  EXPECT_EQ(texts(days, "hourly").size(), 71u);
  EXPECT_THAT(texts(span("2021-11-20", "2022-02-20"), "monthly"), ElementsAre("2021-12-15", "2022-01-15", "2022-02-15"));
  EXPECT_THAT(texts(span("1949-12-01", "1950-01-20"), "monthly"), ElementsAre("1949-12-15", "1950-01-15"));
}

TEST(RegularTimes, AreNotTakenForOtherTexts) {
  const FieldInfo days = span("2022-01-31", "2022-02-02");
  for (const char* text : {"2022-02-01", "2022-02-01/2022-02-02/1", "weekly", ""})
    EXPECT_FALSE(regular_times(days, text)) << text;
}

TEST(RegularTimes, RefuseWhatHasNone) {
  const FieldInfo days = span("2022-01-31T13:00", "2022-01-31T14:00");
  EXPECT_THROW(regular_times(days, "daily"), UsageError);
  EXPECT_THROW(regular_times(days, "monthly"), UsageError);
  EXPECT_THROW(regular_times(days, "0-hourly"), UsageError);
  EXPECT_THROW(regular_times(days, "1.5-hourly"), UsageError);
  FieldInfo numbers = days;
  numbers.calendar_time = false;
  EXPECT_THROW(regular_times(numbers, "daily"), UsageError);
  EXPECT_THROW(regular_times(span("0001-01-01", "2022-01-01"), "hourly"), UsageError);
}

std::string refusal(const FieldInfo& info, const std::string& text) {
  try {
    map_times(info, text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(MapTimes, AreASingleOneAWordOrASpanWithAStep) {
  const FieldInfo days = span("2022-01-31T01:00", "2022-02-02T23:00");
  const auto texts_of = [&](const std::string& text) {
    std::vector<std::string> all;
    for (const double time : map_times(days, text)) all.push_back(iso_time(time));
    return all;
  };
  EXPECT_THAT(texts_of("2022-02-01"), ElementsAre("2022-02-01"));
  EXPECT_THAT(texts_of("2022-02-01/2022-02-02/0.5"), ElementsAre("2022-02-01", "2022-02-01T12:00:00Z", "2022-02-02"));
  EXPECT_EQ(texts_of("daily"), texts(days, "daily"));
  const FieldInfo numbers = {.has_time = true, .calendar_time = false};
  EXPECT_THAT(map_times(numbers, "1/2/0.5"), ElementsAre(1.0, 1.5, 2.0));
  EXPECT_THAT(map_times(numbers, "12.5"), ElementsAre(12.5));
}

TEST(MapTimes, RefuseWhatIsNoTime) {
  const FieldInfo days = span("2022-01-31", "2022-02-02"), numbers = {.has_time = true, .calendar_time = false};
  EXPECT_THAT(refusal(days, "tomorrow"), testing::HasSubstr("time 'tomorrow': must be a time such as 2020-03-01"));
  EXPECT_THAT(refusal(days, "2022-02-01/2022-02-02"), testing::HasSubstr("a span is FROM/TO/STEP, the step in days"));
  EXPECT_THAT(refusal(days, "2022-02-01/2022-02-02/1/2"), testing::HasSubstr("the step must be a number"));
  EXPECT_THAT(refusal(days, "2022-02-01/2022-02-02/one"), testing::HasSubstr("the step must be a number"));
  for (const char* wrong :
       {"2022-02-01/2022-02-02/0", "2022-02-01/2022-02-02/nan", "2022-02-02/2022-02-01/1", "2022-02-01/2022-02-02/1e-9"})
    EXPECT_NE(refusal(days, wrong), "taken") << wrong;
  EXPECT_THAT(refusal(numbers, "2022-02-01"), testing::HasSubstr("plain numbers, not dates"));
  EXPECT_THAT(refusal(numbers, "2022-02-01/2022-02-02/1"), testing::HasSubstr("plain numbers, not dates"));
}

}  // namespace
}  // namespace drift
