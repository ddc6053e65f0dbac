#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/truth.h"
#include "simulate/truth_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

double value_of(const NamedTruth& truth, double lon, double lat, double time) {
  const UnitVector point = unit_vector({lon, lat});
  double value = 0.0;
  truth.truth(std::span(&point, 1), std::span(&time, 1), std::span(&value, 1));
  return value;
}

TEST(TruthText, OfASyntheticFieldGivesBackTheSameField) {
  for (const SyntheticFieldOptions& options :
       {SyntheticFieldOptions{}, SyntheticFieldOptions{.seed = 18446744073709551615u},
        SyntheticFieldOptions{.seed = 7, .evolution_days = 0.1}, SyntheticFieldOptions{.velocity = {1.0 / 3.0, -1e-7}},
        SyntheticFieldOptions{.seed = 2, .evolution_days = 1e6, .velocity = {-20.0, 0.0, {-30.5, 40.25}}}}) {
    const SyntheticFieldOptions parsed = parse_synthetic(to_text(options));
    EXPECT_EQ(to_text(parsed), to_text(options));
    EXPECT_EQ(parsed.seed, options.seed);
    EXPECT_EQ(parsed.evolution_days, options.evolution_days);
    EXPECT_EQ(parsed.velocity.east_km_per_day, options.velocity.east_km_per_day);
    EXPECT_EQ(parsed.velocity.north_km_per_day, options.velocity.north_km_per_day);
    EXPECT_EQ(parsed.velocity.at.lon_deg, options.velocity.at.lon_deg);
    EXPECT_EQ(parsed.velocity.at.lat_deg, options.velocity.at.lat_deg);
  }
}

TEST(TruthText, SubtractsTheGeoidFromAFilesHeights) {
  const ScratchFolder folder;
  GridFile file = {.x = {0.0, 10.0, 20.0}, .y = {40.0, 50.0}, .value = [](double lat, double, double) { return 10.0 + lat; }};
  file.attributes = {{"units", "m"}};
  write_grid_file(folder / "mss.nc", file);
  const std::string name = (folder / "mss.nc").string();
  for (const std::string& text : {name + " - geoid", name + ":height - geoid"}) {
    const NamedTruth truth = open_truth(text);
    EXPECT_NEAR(value_of(truth, 12.0, 45.0, 0.0), 55.0 - value_of(geoid_truth(), 12.0, 45.0, 0.0), 1e-4);
    EXPECT_TRUE(std::isnan(value_of(truth, 30.0, 45.0, 0.0))) << "outside the file";
    EXPECT_EQ(truth.info.standard_name, "sea_surface_height_above_geoid");
  }
  file.attributes = {{"units", "cm"}};
  write_grid_file(folder / "cm.nc", file);
  EXPECT_THROW(open_truth((folder / "cm.nc").string() + " - geoid"), UsageError);
}

TEST(TruthText, IsAsShortAsItCanBe) {
  EXPECT_EQ(to_text(SyntheticFieldOptions{.seed = 7}), "synthetic:7");
  EXPECT_EQ(to_text(SyntheticFieldOptions{.seed = 7, .evolution_days = 5.0, .velocity = {20.0, -10.0}}),
            "synthetic:7,evolution=5,velocity=20:-10");
  EXPECT_EQ(to_text(parse_synthetic("synthetic")), "synthetic:1");
  EXPECT_EQ(to_text(parse_synthetic("synthetic", 4)), "synthetic:4") << "the caller's seed where the text has none";
  EXPECT_EQ(to_text(parse_synthetic("synthetic:velocity=0:12.5:10:-60,evolution=3", 4)),
            "synthetic:4,evolution=3,velocity=0:12.5:10:-60");
}

TEST(TruthText, SaysWhatIsWrongWithIt) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      open_truth(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("synthetic:x"), HasSubstr("truth 'synthetic:x': after synthetic: comes the seed, a whole number"));
  EXPECT_THAT(refusal("synthetic:"), HasSubstr("a whole number"));
  EXPECT_THAT(refusal("synthetic:1,2"), HasSubstr("'2' is not evolution=DAYS"));
  EXPECT_THAT(refusal("synthetic:1,evolutoin=2"), HasSubstr("no 'evolutoin'; did you mean 'evolution'?"));
  EXPECT_THAT(refusal("synthetic:1,evolution=-2"), HasSubstr("evolution '-2'"));
  EXPECT_THAT(refusal("synthetic:1,evolution=inf"), HasSubstr("evolution 'inf'"));
  for (const char* velocity : {"", "1", "1:2:3", "1:2:3:4:5", "1:x", "nan:1"}) {
    EXPECT_THAT(refusal(std::string("synthetic:1,velocity=") + velocity), HasSubstr("is not EAST,NORTH")) << velocity;
  }
  EXPECT_THAT(refusal("synthetic:1,velocity=1:2:3:90"), HasSubstr("latitude must be between -90 and 90"));
  EXPECT_THAT(refusal("synthetc:7"), HasSubstr("did you mean 'synthetic'?"));
  EXPECT_THAT(refusal("geiod"), HasSubstr("did you mean 'geoid'?"));
  EXPECT_THROW(open_truth("gone.nc"), Error);
  EXPECT_THROW(parse_synthetic("geoid"), UsageError);
}

TEST(OpenTruth, TellsWhichTruthsMove) {
  EXPECT_FALSE(open_truth("synthetic:3").time_days.has_value());
  for (const char* text : {"synthetic:3,evolution=2", "synthetic:3,velocity=100:0"}) {
    const NamedTruth truth = open_truth(text);
    ASSERT_TRUE(truth.time_days.has_value()) << text;
    EXPECT_TRUE(std::isinf(truth.time_days->low) && std::isinf(truth.time_days->high)) << "known at all times";
    EXPECT_NE(value_of(truth, 20.0, 80.0, 0.0), value_of(truth, 20.0, 80.0, 3.0)) << text;
    EXPECT_EQ(value_of(truth, 20.0, 80.0, 3.0), SyntheticField(parse_synthetic(text))(unit_vector({20.0, 80.0}), 3.0));
  }
}

TEST(OpenTruth, FindsAVariableBehindTheFilesName) {
  const ScratchFolder folder;
  const auto height = [](double, double, double) { return 3.0; };
  write_grid_file(folder / "t.nc", {.x = steps(0.0, 1.0, 4), .y = steps(0.0, 1.0, 4), .value = height});
  const std::string path = (folder / "t.nc").string();
  EXPECT_EQ(value_of(open_truth(path), 1.5, 1.5, 0.0), 3.0);
  EXPECT_EQ(value_of(open_truth(path + ":height"), 1.5, 1.5, 0.0), 3.0);
  EXPECT_THROW(open_truth(path + ":hieght"), UsageError);
}

}  // namespace
}  // namespace drift
