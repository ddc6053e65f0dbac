#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "data/product_testing.h"
#include "data/reading_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kSecond = 1.0 / 86400.0;
constexpr double k2000 = 18262.0;  // days since 1950

class ProductPreset : public testing::Test {
 protected:
  std::string path(const std::string& name = "product.nc") const { return (folder_ / name).string(); }
  ScratchFolder folder_;
};

TEST_F(ProductPreset, OfSentinel6LeaveOutWhatFlagsAndRangeForbid) {
  for (const bool high_resolution : {false, true}) {
    write_sentinel6(path(), high_resolution);
    const Reading reading = read_observations({path()});
    EXPECT_EQ(reading.report.preset, "sentinel6-l2");
    EXPECT_EQ(reading.report.roles.value, "data_01/ku/ssha");
    EXPECT_THAT(reading.observations.value, ElementsAre(DoubleNear(0.1, 1e-6), DoubleNear(-0.15, 1e-6)));
    EXPECT_THAT(reading.report.quality,
                ElementsAre("surface_classification_flag == 0", "range_ocean_qual == 0", "ssha from -2 to 2"));
    EXPECT_EQ(reading.report.quality_left_out, 4u);
    EXPECT_EQ(count_of(reading.report, "quality control: not surface_classification_flag == 0"), 2u);
    EXPECT_EQ(count_of(reading.report, "quality control: not range_ocean_qual == 0"), 1u);
    EXPECT_EQ(count_of(reading.report, "quality control: not ssha from -2 to 2"), 1u);
    EXPECT_EQ(reading.tracks, 1u);
    // Of another value the rules are others.
    EXPECT_EQ(read_observations({path()}, {.roles = {.value = "data_01/ku/swh_ocean"}}).observations.size(), 3u);
  }
}

TEST_F(ProductPreset, KeepEverythingWithoutQualityControl) {
  write_sentinel6(path());
  const Reading reading = read_observations({path()}, {.quality_control = false});
  EXPECT_EQ(reading.observations.size(), 6u);
  EXPECT_THAT(reading.report.quality, IsEmpty());
  EXPECT_EQ(reading.report.quality_left_out, 0u);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "data_01/ku/ssha"}, .preset = "none"}).observations.size(), 6u);
}

TEST_F(ProductPreset, OfSwotReadSwathsAndLeaveOutGaps) {
  write_swot_l3(path());
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "swot-l3");
  EXPECT_EQ(reading.report.roles.value, "ssha_unfiltered");
  EXPECT_EQ(reading.observations.size(), 11u);
  EXPECT_EQ(reading.layout, DataLayout::swath);
  EXPECT_EQ(reading.tracks, 1u);
  EXPECT_THAT(reading.observations.platform_names, ElementsAre("SWOT"));
  const ReadOptions unedited = {.roles = {.value = "ssha_unedited"}};
  EXPECT_EQ(read_observations({path()}, unedited).report.quality_left_out, 1u);
}

TEST_F(ProductPreset, OfSwotsNadirIsThatOfOtherTracks) {
  write_swot_nadir(path());
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "cmems-l3-sla");
  EXPECT_EQ(reading.layout, DataLayout::along_track);
  EXPECT_EQ(reading.tracks, 1u);
}

TEST_F(ProductPreset, OfSentinel3AtTwentyHertzKeepOpenOceanWithAGoodRange) {
  write_sentinel3(path());
  const Reading fast = read_observations({path()});
  EXPECT_EQ(fast.observations.size(), 1u);
  EXPECT_EQ(fast.report.quality_left_out, 2u);
  EXPECT_EQ(read_observations({path()}, {.quality_control = false}).observations.size(), 3u);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "ssha_01_ku"}}).observations.size(), 2u);
}

TEST_F(ProductPreset, OfJasonLeaveOutWhatFlagsOfTheirVersionForbid) {
  for (const JasonForm form : {JasonForm::flat, JasonForm::groups, JasonForm::saral}) {
    const bool groups = form == JasonForm::groups, saral = form == JasonForm::saral;
    write_jason(path(), form);
    const Reading reading = read_observations({path()});
    EXPECT_EQ(reading.report.preset, "jason-gdr");
    EXPECT_EQ(reading.report.rows, 8u);
    EXPECT_EQ(count_of(reading.report, "value missing"), 1u);
    EXPECT_THAT(reading.observations.value, ElementsAre(DoubleNear(0.1, 1e-6), DoubleNear(0.2, 1e-6), DoubleNear(0.5, 1e-6)));
    EXPECT_EQ(reading.report.quality_left_out, 4u);
    const char* range = groups ? "range_ocean_compression_qual" : saral ? "qual_alt_1hz_range" : "qual_alt_1hz_range_ku";
    EXPECT_EQ(count_of(reading.report, std::string("quality control: not ") + range + " == 0"), 1u);
    if (!groups) {
      EXPECT_EQ(count_of(reading.report, "quality control: not surface_type in 0,1"), 1u);
      EXPECT_EQ(count_of(reading.report, "quality control: not ice_flag == 0"), 1u);
    }
    EXPECT_THAT(reading.observations.platform_names, ElementsAre(groups ? "Jason-3" : saral ? "SARAL/AltiKa" : "Jason-2"));
    EXPECT_EQ(read_observations({path()}, {.quality_control = false}).observations.size(), 7u);
    // Of the wave height the flags are others: land, ice and its own.
    EXPECT_EQ(read_observations({path()}, {.roles = {.value = groups  ? "swh_ocean"
                                                              : saral ? "swh"
                                                                      : "swh_ku"}})
                  .observations.size(),
              5u);
  }
}

TEST_F(ProductPreset, OfIcesat2ReadAllBeams) {
  write_icesat2(path(), true);
  const Reading freeboard = read_observations({path()});
  EXPECT_EQ(freeboard.report.preset, "icesat2-atl10");
  EXPECT_THAT(freeboard.observations.value, ElementsAre(DoubleNear(0.3, 1e-6), DoubleNear(0.4, 1e-6), DoubleNear(0.31, 1e-6)));
  EXPECT_EQ(freeboard.report.rows, 6u);
  EXPECT_EQ(count_of(freeboard.report, "value missing"), 2u);
  EXPECT_EQ(freeboard.report.quality_left_out, 1u);
  EXPECT_NEAR(freeboard.observations.time_days[0], 24837.0 + 1.3e8 * kSecond, 1e-9);  // 2018-01-01
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "beam_fb_height"}}).observations.size(), 3u);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "gt2r/freeboard_segment/beam_fb_height"}}).observations.size(), 1u);

  write_icesat2(path("older.h5"), true, true);
  const Reading older = read_observations({path("older.h5")});
  EXPECT_EQ(older.report.preset, "icesat2-atl10");
  EXPECT_EQ(older.observations.value, freeboard.observations.value);
  EXPECT_EQ(older.observations.lat_deg, freeboard.observations.lat_deg);
  EXPECT_EQ(older.report.quality_left_out, 1u);

  write_icesat2(path("ATL07.h5"), false);
  const Reading heights = read_observations({path("ATL07.h5")});
  EXPECT_EQ(heights.report.preset, "icesat2-atl07");
  EXPECT_THAT(heights.observations.value, ElementsAre(DoubleNear(0.1, 1e-6), DoubleNear(0.11, 1e-6), DoubleNear(0.21, 1e-6)));
  EXPECT_THAT(heights.report.quality, ElementsAre("height_segment_quality == 1"));
}

TEST_F(ProductPreset, OfIcesat2sGridLeaveOutLand) {
  write_atl21(path());
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "icesat2-atl21");
  EXPECT_EQ(reading.report.roles.value, "monthly/mean_ssha");
  EXPECT_EQ(reading.observations.size(), 2u);
  EXPECT_EQ(reading.layout, DataLayout::grid);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "daily/day01/mean_ssha"}}).observations.size(), 2u);
}

TEST_F(ProductPreset, OfNasaHeightsHeedTheFlagAndDropANameThatIsNone) {
  write_nasa_ssh(path());
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "nasa-ssh");
  EXPECT_THAT(reading.observations.value, ElementsAre(0.1, 0.2, 0.3));
  EXPECT_EQ(reading.report.roles.track, "pass");
  EXPECT_EQ(reading.value.standard_name, "");
  EXPECT_THAT(reading.report.warnings,
              ElementsAre(HasSubstr("'ssh' has the standard_name 'ssh', which is not a CF standard name")));
  EXPECT_THAT(reading.report.warnings.front(), EndsWith("did you mean 'sea_surface_height_above_mean_sea_level'?"));
  EXPECT_THAT(reading.observations.platform_names, IsEmpty());  // "Satellite" names none
  EXPECT_THAT(refusal({path()}, {.quality_control = false}), HasSubstr("too large to compute with"));
}

TEST_F(ProductPreset, OfArgoReadALevelByGoodFlags) {
  write_argo(path());
  EXPECT_THAT(refusal({path()}), AllOf(HasSubstr("has 3 values along the dimension 'N_LEVELS'"), HasSubstr("PRES >= 95")));
  const std::vector<std::string> level = {"PRES >= 90", "PRES <= 110"};
  const Reading reading = read_observations({path()}, {.where = level});
  EXPECT_EQ(reading.report.preset, "argo");
  EXPECT_THAT(reading.observations.value, ElementsAre(15, 16));
  EXPECT_THAT(reading.observations.time_days, ElementsAre(26000.25, 26001.25));
  // Bad at 200 dbar: the flag 4, and a fill value with the flag 9.
  EXPECT_THAT(refusal({path()}, {.where = {"PRES > 190"}}), HasSubstr("quality control: not TEMP_QC in 1,2,5,8"));
  EXPECT_THAT(read_observations({path()}, {.roles = {.value = "PSAL"}, .where = level}).observations.value,
              ElementsAre(DoubleNear(35.1, 1e-5)));
  // A level whose pressure is bad is no level.
  const Reading shallow = read_observations({path()}, {.where = {"PRES < 50"}});
  EXPECT_THAT(shallow.observations.value, ElementsAre(20));
  EXPECT_EQ(count_of(shallow.report, "quality control: not PRES_QC in 1,2,5,8"), 1u);
}

TEST_F(ProductPreset, OfArgoAdjustedValuesHeedTheFlagsOfTheseAndOfTheAdjustedPressure) {
  write_argo(path());
  const auto read = [&](const char* value, std::string level) {
    return read_observations({path()}, {.roles = {.value = value}, .where = {std::move(level)}});
  };
  const Reading shallow = read("TEMP_ADJUSTED", "PRES_ADJUSTED in 10.5,10.875");
  EXPECT_THAT(shallow.observations.value, ElementsAre(19.875));
  EXPECT_EQ(count_of(shallow.report, "quality control: not PRES_ADJUSTED_QC in 1,2,5,8"), 1u);
  EXPECT_THAT(read("TEMP_ADJUSTED", "PRES_ADJUSTED in 10.75,11.125").observations.value, ElementsAre(19.75));
  EXPECT_THAT(read("PSAL_ADJUSTED", "PRES_ADJUSTED in 10.625,11").observations.value, ElementsAre(35.0));
}

TEST_F(ProductPreset, OfRadiometerWindsAddTheOffsetOfEachCell) {
  write_ssmis(path());
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "rss-ssmis");
  EXPECT_EQ(reading.report.roles.value, "wind_speed");
  EXPECT_NEAR(reading.observations.time_days[0], 26244.0 + 600 * kSecond, 1e-9);  // 2021-11-08
  EXPECT_NEAR(reading.observations.time_days[4], 26244.5 + 840 * kSecond, 1e-9);
  // A fill value that the file does not declare is remarked upon, with a proposal.
  EXPECT_THAT(reading.report.warnings, ElementsAre(AllOf(HasSubstr("is -999"), HasSubstr("--valid 5:12"))));
}

TEST_F(ProductPreset, OfCryosatMatchProductsWithAndWithoutTheClosestPoint) {
  write_cryosat2(path(), false);
  write_cryosat2(path("depth.nc"), true);
  const Reading level2 = read_observations({path()});
  EXPECT_EQ(level2.report.preset, "cryosat2-l2");
  EXPECT_EQ(level2.report.roles.lat, "lat_poca_20_ku");
  EXPECT_THAT(level2.observations.platform_names, ElementsAre("CryoSat-2"));
  EXPECT_EQ(level2.observations.size(), 3u);  // no class to tell leads by
  const Reading depth = read_observations({path("depth.nc")});
  EXPECT_EQ(depth.report.preset, "cryosat2-l2");
  EXPECT_EQ(depth.report.roles.lat, "lat_20_ku");
  EXPECT_EQ(depth.observations.size(), 2u);
  EXPECT_EQ(count_of(depth.report, "value missing"), 1u);
  EXPECT_EQ(count_of(depth.report, "quality control: not flag_surf_type_class_20_ku in 16,128"), 1u);
  EXPECT_EQ(count_of(depth.report, "quality control: not freeboard_20_ku from -2 to 2"), 1u);
  EXPECT_NEAR(depth.observations.time_days[0], k2000 + (6e8 - 37.0) * kSecond, 1e-9);                            // TAI
  EXPECT_EQ(read_observations({path("depth.nc")}, {.roles = {.value = "ssha_20_ku"}}).observations.size(), 1u);  // the lead
}

}  // namespace
}  // namespace drift
