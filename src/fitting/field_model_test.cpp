#include "drift/field_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "drift/predict.h"
#include "fields/base64.h"
#include "fitting/fitting_testing.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(FieldModelFile, ComesBackWithEverythingPredictionNeeds) {
  const ScratchFolder folder;
  save_field_model(folder / "m.safetensors", small_model());
  const FieldModel back = load_field_model(folder / "m.safetensors");
  EXPECT_EQ(back.domain, small_model().domain);
  EXPECT_EQ(back.info.value, small_model().info.value);
  EXPECT_EQ(back.info.noise_sd, small_model().info.noise_sd);
  EXPECT_EQ(back.info.extent, small_model().info.extent);
  EXPECT_EQ(back.info.provenance, "forty made-up tracks");
  EXPECT_EQ(back.cells.bits, small_model().cells.bits);
  EXPECT_EQ(back.settings, small_model().settings);
  EXPECT_EQ(back.scores, small_model().scores);
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {1.0, 2.0}, lat = {20.0, 30.0}, time = {20003.0};
  EXPECT_EQ(predict_field(*engine, back, lon, lat, time).mean, predict_field(*engine, small_model(), lon, lat, time).mean);
}

TEST(FieldModelFile, WithAbsurdStatisticsIsRefused) {
  const ScratchFolder folder;
  const auto refused = [&](const std::function<void(FieldInfo&)>& change) {
    FieldModel model = small_model();
    change(model.info);
    save_field_model(folder / "m.safetensors", model);
    EXPECT_THROW(load_field_model(folder / "m.safetensors"), Error);
  };
  refused([](FieldInfo& info) { info.noise_sd = 1e300; });
  refused([](FieldInfo& info) { info.spread_scale = 1e300; });
  refused([](FieldInfo& info) { info.conformal[2] = 1e300; });
  for (const Standard& value : {Standard{0.0, 1e300}, Standard{1e300, 1.0}, Standard{0.0, 1e-300}}) {
    Domain domain = small_model().domain;
    domain.value = value;
    EXPECT_THROW(check(domain), UsageError) << value.mean << " " << value.sd;
  }
}

// They reach the TOML library, whose recursion has no end: it would overflow the stack.
TEST(FieldModelFile, WithSettingsNestedWithoutEndIsRefusedWhenTheyAreRead) {
  const ScratchFolder folder;
  FieldModel model = small_model();
  for (const std::string quotes : {"\"\"\"", "\"\"\"\"", "'''''"}) {
    model.settings = "x = [" + quotes.substr(0, 3) + "a" + quotes + ", {";
    for (int i = 0; i < 40000; ++i) model.settings += "a.";
    model.settings += "a = 1}]\n";
    save_field_model(folder / "m.safetensors", model);
    const FieldModel back = load_field_model(folder / "m.safetensors");
    try {
      score_model(*make_cpu_engine(), back, small_dataset(2));
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("nested more than 16 deep"));
    }
  }
}

TEST(PredictField, OfWeightsThatOverflowIsAnErrorAndNotInfinity) {
  FieldModel model = small_model();
  for (Member& member : model.ensemble.members) {
    for (float& weight : member.parameters) weight = 1e38F;
  }
  const std::vector<double> lon = {1.0}, lat = {20.0}, time = {20003.0};
  EXPECT_THROW(predict_field(*make_cpu_engine(), model, lon, lat, time), Error);
}

// The cells of a model of an earlier version: half a degree, bits within the JSON.
TEST(FieldModelFile, OfAnEarlierVersionLoads) {
  const ScratchFolder folder;
  FieldModel unknown = small_model();
  unknown.info.provenance.clear();
  save_field_model(folder / "new.safetensors", unknown);
  Model stored = load_model(folder / "new.safetensors");
  EXPECT_THAT(stored.metadata["field"], testing::Not(testing::HasSubstr("provenance"))) << "a key that they lacked";
  const std::vector<std::uint8_t> bits(720 * 360 / 8, 0x55);
  stored.metadata.erase("cell_bits");
  stored.metadata["cells"] =
      "{\"columns\":720,\"rows\":360,\"extent\":[-180.0,-90.0,180.0,90.0],\"bits\":\"" + to_base64(bits) + "\"}";
  save_model(folder / "old.safetensors", stored.ensemble, stored.metadata);
  const FieldModel old = load_field_model(folder / "old.safetensors");
  EXPECT_EQ(old.cells.columns, 720);
  EXPECT_EQ(old.cells.bits, bits);
}

TEST(FieldModelFile, RefusesNetworksWithoutADomain) {
  const ScratchFolder folder;
  save_model(folder / "bare.safetensors", small_model().ensemble);
  try {
    load_field_model(folder / "bare.safetensors");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds networks but no 'domain'"));
  }
}

TEST(PredictField, IsTheFieldAndItsSpreadInTheValuesUnit) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {-5.0, 0.0, 7.0}, lat = {20.0, 25.0, 31.0}, time = {20005.0};
  const FieldPrediction prediction = predict_field(*engine, small_model(), lon, lat, time, {.members = true});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(prediction.mean[i], smooth_field(lon[i], lat[i], time[0]), 0.3);
    double mean = 0.0, square = 0.0;
    for (std::size_t m = 0; m < 4; ++m) mean += prediction.members[m * 3 + i] / 4.0;
    for (std::size_t m = 0; m < 4; ++m) square += std::pow(prediction.members[m * 3 + i] - mean, 2) / 3.0;
    EXPECT_NEAR(prediction.mean[i], mean, 1e-5);
    const double spread = small_model().info.spread_scale * std::sqrt(square);
    EXPECT_NEAR(prediction.sd_epistemic[i], spread, 1e-5);
    EXPECT_NEAR(prediction.sd_total[i], std::hypot(spread, small_model().info.noise_sd), 1e-5);
  }
}

TEST(PredictField, LeavesPositionsThatAreNoneEmpty) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {std::nan(""), 0.0}, lat = {20.0, 25.0}, time = {20005.0};
  const FieldPrediction prediction = predict_field(*engine, small_model(), lon, lat, time, {.members = true, .gradient = true});
  EXPECT_TRUE(std::isnan(prediction.mean[0]));
  EXPECT_TRUE(std::isnan(prediction.sd_total[0]));
  EXPECT_TRUE(std::isnan(prediction.members[0]));
  EXPECT_TRUE(std::isnan(prediction.gradient[0].east));
  EXPECT_TRUE(std::isfinite(prediction.mean[1]));
  EXPECT_TRUE(std::isfinite(prediction.gradient[1].north));
}

TEST(PredictField, HasTheGradientOfItsOwnMean) {
  const auto engine = make_cpu_engine();
  const double lat0 = 25.0, step_deg = 0.05, km_per_degree = 3.14159265358979 / 180.0 * kEarthRadiusKm;
  const std::vector<double> lon = {2.0, 2.0 - step_deg, 2.0 + step_deg, 2.0, 2.0},
                            lat = {lat0, lat0, lat0, lat0 - step_deg, lat0 + step_deg};
  const std::vector<double> time = {20005.0};
  const FieldPrediction p = predict_field(*engine, small_model(), lon, lat, time, {.gradient = true, .gradient_scale = 0.0});
  const double east = (p.mean[2] - p.mean[1]) / (2 * step_deg * km_per_degree * std::cos(lat0 * 3.14159265358979 / 180.0));
  const double north = (p.mean[4] - p.mean[3]) / (2 * step_deg * km_per_degree);
  EXPECT_NEAR(p.gradient[0].east, east, 2e-4 * std::hypot(east, north) + 2e-6);  // the ellipsoid against the sphere: under 1 %
  EXPECT_NEAR(p.gradient[0].north, north, 1e-2 * std::abs(north) + 2e-6);
}

TEST(PredictField, RefusesTimesThatDoNotFit) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {0.0, 1.0, 2.0}, lat = lon, two_times = {1.0, 2.0};
  EXPECT_THROW(predict_field(*engine, small_model(), lon, lat, {}), UsageError);
  EXPECT_THROW(predict_field(*engine, small_model(), lon, lat, two_times), UsageError);
}

TEST(DaysOutside, IsZeroInsideAndSignedOutside) {
  const FieldInfo info = {.has_time = true, .first_time_days = 10.0, .last_time_days = 20.0};
  EXPECT_EQ(days_outside(info, 15.0), 0.0);
  EXPECT_EQ(days_outside(info, 8.0), -2.0);
  EXPECT_EQ(days_outside(info, 25.0), 5.0);
}

}  // namespace
}  // namespace drift
