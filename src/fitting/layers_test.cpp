// What fitted models predict besides the field: slopes over a distance with their standard deviations, intervals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drift/fit.h"
#include "drift/predict.h"
#include "drift/simulate.h"
#include "drift/truth.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr double kKmPerDegree = kEarthRadiusKm * std::numbers::pi / 180.0;

const char* const kTruth = "synthetic:3,evolution=8";  // structure at every scale
constexpr double kStart = 20000.0;

// Ten days of three satellites over part of the North Atlantic.
const Dataset& tracks() {
  static const Dataset data = [] {
    SimulateOptions options = simulate_defaults();
    options.start_days = kStart, options.days = 10.0;
    options.box = {{-40.0, 30.0, 0.0, 55.0}};
    options.south_deg = -90.0;
    options.rate_hz = 0.03;
    options.noise_sd = 0.05;
    Dataset made;
    made.observations = simulate(open_truth(kTruth).truth, options);
    const std::vector<std::int32_t>& track = made.observations.track;
    made.tracks = static_cast<std::size_t>(*std::max_element(track.begin(), track.end())) + 1;
    made.calendar_time = true;
    made.value = {"adt", "Sea surface height", "sea_surface_height_above_geoid", "m"};
    return made;
  }();
  return data;
}

FieldModel fitted(FitMethod method) {
  RunSettings settings = small_settings();
  settings.fit.method = method;
  return fit(plan_fit(settings, tracks()), tracks()).model;
}
const FieldModel& process_model() {
  static const FieldModel model = fitted(FitMethod::process);
  return model;
}

struct Points {
  std::vector<double> lon, lat, time;
};
// Of places and times among the observations those half a distance to the south and to the north too.
Points meridian_triples(double distance) {
  Points at;
  const auto share = [](int i, double step) { return std::fmod(i * step, 1.0); };
  for (int i = 0; i < 300; ++i) {
    const double lon = -38.0 + 36.0 * share(i, 0.6180339887), lat = 32.0 + 21.0 * share(i, 0.754877666);
    const double half = 0.5 * distance / kKmPerDegree, time = kStart + 1.0 + 8.0 * share(i, 0.569840291);
    at.lon.insert(at.lon.end(), {lon, lon, lon}), at.lat.insert(at.lat.end(), {lat, lat - half, lat + half});
    at.time.insert(at.time.end(), {time, time, time});
  }
  return at;
}

TEST(GradientSd, OfNetworksIsTheSpreadOfTheirMembersSlopes) {
  const FieldModel model = fitted(FitMethod::network);
  constexpr double kScale = 80.0, kSinglePrecision = 2e-5;  // of slopes of some 3e-3 per km
  const auto engine = make_cpu_engine();
  const Points at = meridian_triples(kScale);
  const FieldPrediction p =
      predict_field(*engine, model, at.lon, at.lat, at.time, {.members = true, .gradient = true, .gradient_scale = kScale});
  const std::size_t n = at.lon.size(), members = model.ensemble.members.size();
  ASSERT_EQ(p.gradient_sd.size(), n);
  for (std::size_t i = 0; i < n; i += 3) {
    const auto slope = [&](const double* field) { return (field[i + 2] - field[i + 1]) / kScale; };
    const double mean = slope(p.mean.data());
    double square = 0.0;
    for (std::size_t m = 0; m < members; ++m) square += std::pow(slope(p.members.data() + m * n) - mean, 2);
    const double sd = model.info.spread_scale * std::sqrt(square / static_cast<double>(members - 1));
    EXPECT_NEAR(p.gradient[i].north, mean, kSinglePrecision);
    EXPECT_NEAR(p.gradient_sd[i].north, sd, kSinglePrecision);
    EXPECT_TRUE(std::isnan(p.gradient[i].per_day));
  }
}

// The whole is the part between the members and that within them, so it is more than their spread.
TEST(GradientSd, OfLastLayersHasTheirPosteriorsInIt) {
  RunSettings settings = network_settings();
  settings.uncertainty.method = UncertaintyMethod::last_layer;
  const FieldModel model = fit(plan_fit(settings, tracks()), tracks()).model;
  ASSERT_FALSE(model.last_layers.empty());
  FieldModel bare = model;
  bare.last_layers.clear();
  const auto engine = make_cpu_engine();
  const Points at = meridian_triples(80.0);
  const PredictWants wants = {.gradient = true, .gradient_scale = 80.0};
  const FieldPrediction whole = predict_field(*engine, model, at.lon, at.lat, at.time, wants);
  const FieldPrediction between = predict_field(*engine, bare, at.lon, at.lat, at.time, wants);
  ASSERT_EQ(whole.gradient_sd.size(), at.lon.size());
  for (std::size_t i = 0; i < at.lon.size(); ++i) {
    EXPECT_EQ(whole.gradient[i].east, between.gradient[i].east);
    EXPECT_GT(whole.gradient_sd[i].east, between.gradient_sd[i].east);
  }
  EXPECT_EQ(predict_at(*engine, model, at.lon, at.lat, at.time, wants).lacks.sd, "");
}

TEST(GradientSd, OfOtherMethodsIsNoneForAReasonThatIsGiven) {
  RunSettings settings = small_settings();
  settings.fit.method = fit_choice("nngp:neighbours=8");
  const FieldModel model = fit(plan_fit(settings, tracks()), tracks()).model;
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {-20.0}, lat = {40.0}, time = {kStart + 5.0};
  const PointLayers layers = predict_at(*engine, model, lon, lat, time, {.gradient = true});
  EXPECT_THAT(layers.lacks.sd, HasSubstr("the method nngp:neighbours=8 gives its errors at single points"));
  EXPECT_EQ(layers.lacks.currents, "");
  for (const FieldLayer& layer : layers.layers) EXPECT_NE(layer.info.name, "adt_gradient_east_uncertainty");
  EXPECT_EQ(predict_at(*engine, model, lon, lat, time, {.gradient = true, .gradient_scale = 0.0}).lacks.sd, "")
      << "none were asked for";
}

// A point's own neighbours serve those around it, while a map's change by then: nine tenths of the slopes lie within a quarter of
// a standard deviation of the map's.
TEST(GradientSd, OfABlendGoesWithTheDifferenceOfTheMeanAndFollowsItsCalibration) {
  FieldModel model = fitted(FitMethod::blend);
  const auto engine = make_cpu_engine();
  const double scale = gradient_scale(model, {});
  const ProcessInfo info = process_info(model).value();
  EXPECT_DOUBLE_EQ(scale, 0.25 * std::min(info.lengthscale_x, info.lengthscale_y));
  const Points at = meridian_triples(scale);
  const FieldPrediction p = predict_field(*engine, model, at.lon, at.lat, at.time, {.gradient = true});
  double close = 0.0, close_when_turned = 0.0, n = 0.0;
  for (std::size_t i = 0; i < at.lon.size(); i += 3) {
    const double of_map = (p.mean[i + 2] - p.mean[i + 1]) / scale, sd = p.gradient_sd[i].north;
    close += std::abs(p.gradient[i].north - of_map) < 0.25 * sd ? 1.0 : 0.0;
    close_when_turned += std::abs(-p.gradient[i].north - of_map) < 0.25 * sd ? 1.0 : 0.0;
    n += 1.0;
  }
  EXPECT_GT(close / n, 0.9);
  EXPECT_LT(close_when_turned / n, 0.5);
  model.info.spread_scale *= 2.0;
  const FieldPrediction wider = predict_field(*engine, model, at.lon, at.lat, at.time, {.gradient = true});
  EXPECT_NEAR(wider.gradient_sd[0].east, 2.0 * p.gradient_sd[0].east, 1e-12);
  EXPECT_EQ(wider.gradient[0].east, p.gradient[0].east);
}

// Of a truth that is no draw of the process, whose parameters were fitted: nine of ten would be ideal, over a shorter distance
// fewer are covered, since tracks do not see structure that small.
TEST(GradientSd, CoversTheSlopesOfASyntheticTruth) {
  const FieldModel& model = process_model();
  const auto engine = make_cpu_engine();
  const double scale = gradient_scale(model, {});
  const Points at = meridian_triples(scale);
  const FieldPrediction p = predict_field(*engine, model, at.lon, at.lat, at.time, {.gradient = true});
  std::vector<UnitVector> points;
  for (std::size_t i = 0; i < at.lon.size(); ++i) points.push_back(unit_vector({at.lon[i], at.lat[i]}));
  std::vector<double> field(points.size());
  open_truth(kTruth).truth(points, at.time, field);
  double inside = 0.0, error = 0.0, square = 0.0, n = 0.0;
  for (std::size_t i = 0; i < at.lon.size(); i += 3) {
    const double truth = (field[i + 2] - field[i + 1]) / scale, miss = p.gradient[i].north - truth;
    inside += std::abs(miss) < 1.645 * p.gradient_sd[i].north ? 1.0 : 0.0;
    error += miss * miss, square += truth * truth, n += 1.0;
  }
  EXPECT_GT(inside / n, 0.75);
  EXPECT_LT(inside / n, 0.97) << "wider than need be";
  EXPECT_LT(error, 0.7 * square);
}

TEST(GradientLayers, NameTheirStandardDeviationsAndTheScale) {
  const FieldModel& model = process_model();
  const auto engine = make_cpu_engine();
  const Points at = {{-20.0}, {40.0}, {kStart + 5.0}};
  const PredictWants wants = {.gradient = true, .gradient_scale = 50.0};
  const PointLayers found = predict_at(*engine, model, at.lon, at.lat, at.time, wants);
  const auto place = [&](const std::string& name) {
    const auto same = [&](const FieldLayer& layer) { return layer.info.name == name; };
    return static_cast<std::size_t>(std::find_if(found.layers.begin(), found.layers.end(), same) - found.layers.begin());
  };
  for (const std::string name : {"adt_gradient_east", "adt_gradient_north", "ugos", "vgos"}) {
    const std::size_t slope = place(name), sd = place(name + "_uncertainty");
    ASSERT_LT(slope, found.layers.size()) << name;
    ASSERT_LT(sd, found.layers.size()) << name;
    EXPECT_THAT(found.layers[slope].ancillary, Contains(name + "_uncertainty"));
    for (const std::size_t layer : {slope, sd}) EXPECT_THAT(found.layers[layer].comment, HasSubstr("over 50 km"));
    EXPECT_GT(found.values[sd][0], 0.0);
  }
  EXPECT_EQ(found.layers[place("ugos_uncertainty")].info.standard_name,
            "surface_geostrophic_eastward_sea_water_velocity standard_error");
  // u = -g/f dh/dy, with f = 9.374e-5 per second at 40 degrees and slopes per km.
  const double per_slope = found.values[place("ugos_uncertainty")][0] / found.values[place("adt_gradient_north_uncertainty")][0];
  EXPECT_NEAR(per_slope, 9.8017 / 9.3745e-5 / 1000.0, 0.05);
}

TEST(IntervalLayers, AreAmongTheAncillaryVariablesOfTheMean) {
  FieldModel model = process_model();
  model.info.conformal = {0.7, 1.3, 1.7, 2.0, 2.7};
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {-20.0}, lat = {40.0}, time = {kStart + 5.0};
  const PointLayers found = predict_at(*engine, model, lon, lat, time);
  EXPECT_THAT(found.layers.front().ancillary,
              testing::ElementsAre("adt_uncertainty", "adt_total_uncertainty", "adt_lower90", "adt_upper90"));
  std::vector<std::string> names;
  for (const FieldLayer& layer : found.layers) names.push_back(layer.info.name);
  for (const std::string& name : found.layers.front().ancillary) EXPECT_THAT(names, Contains(name));
  model.info.conformal[2] = -1.0;  // too few observations for an interval
  EXPECT_THAT(predict_at(*engine, model, lon, lat, time).layers.front().ancillary, testing::Not(Contains("adt_lower90")));
}

TEST(GradientLayers, HaveNoStandardDeviationOfTheMeansOwnSlope) {
  const FieldModel& model = process_model();
  const auto engine = make_cpu_engine();
  const Points at = {{-20.0}, {40.0}, {kStart + 5.0}};
  const PointLayers exact = predict_at(*engine, model, at.lon, at.lat, at.time, {.gradient = true, .gradient_scale = 0.0});
  for (const FieldLayer& layer : exact.layers) EXPECT_EQ(layer.info.name.find("gradient_east_unc"), std::string::npos);
  for (const double wrong : {-1.0, 0.01, std::nan("")}) {
    EXPECT_THROW(predict_at(*engine, model, at.lon, at.lat, at.time, {.gradient = true, .gradient_scale = wrong}), UsageError)
        << wrong;
  }
}

TEST(GradientLayers, AreAskedForWhereTheirScaleIs) {
  const FieldModel& model = process_model();
  const auto engine = make_cpu_engine();
  const Points at = {{-20.0}, {40.0}, {kStart + 5.0}};
  EXPECT_THROW(predict_at(*engine, model, at.lon, at.lat, at.time, {.gradient_scale = 50.0}), UsageError);
}

// In several parts, with points that are missing: as one by one, and in single precision as what it stands for.
TEST(PointLayers, AreTheSameInSinglePrecisionAndHoweverManyPointsThereAre) {
  const FieldModel& model = process_model();
  const auto engine = make_cpu_engine();
  constexpr std::size_t kMany = 70'000;  // more than a part has
  std::vector<float> lon(kMany, std::nanf("")), lat(kMany, 40.0F);
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{65'535}, std::size_t{65'536}, kMany - 1})
    lon[i] = -20.0F + static_cast<float>(i) / 7e4F, lat[i] = 41.1F;
  const std::vector<double> wide_lon(lon.begin(), lon.end()), wide_lat(lat.begin(), lat.end()), time = {kStart + 5.0};
  const PointLayers single = predict_at(*engine, model, lon, lat, time),
                    wide = predict_at(*engine, model, wide_lon, wide_lat, time);
  ASSERT_EQ(single.values.size(), wide.values.size());
  for (std::size_t layer = 0; layer < wide.values.size(); ++layer) {
    ASSERT_EQ(single.values[layer].size(), kMany);
    for (std::size_t i = 0; i < kMany; ++i) {
      const double one = single.values[layer][i], other = wide.values[layer][i];
      ASSERT_TRUE(std::isnan(lon[i]) ? std::isnan(one) && std::isnan(other) : one == other) << i;
    }
  }
  const PointLayers last = predict_at(*engine, model, std::span(wide_lon).last(1), std::span(wide_lat).last(1), time);
  for (std::size_t layer = 0; layer < wide.values.size(); ++layer) EXPECT_EQ(last.values[layer][0], wide.values[layer].back());
  FarCounter of_single(model), of_wide(model);
  lon[0] = 100.0F;
  of_single.add(lon, lat);
  of_wide.add(std::vector<double>(lon.begin(), lon.end()), wide_lat);
  EXPECT_EQ(of_single.result().count, of_wide.result().count);
  EXPECT_GT(of_single.result().count, 0U);
}

}  // namespace
}  // namespace drift
