#include "drift/field_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <functional>
#include <sstream>

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

const FieldModel& trained() {
  static const FieldModel model = [] {
    Dataset data = small_dataset();
    data.provenance = "forty made-up tracks";
    RunSettings settings = small_settings();
    settings.fit.method = FitMethod::network;
    return fit(plan_fit(settings, data), data).model;
  }();
  return model;
}

TEST(FieldModelFile, ComesBackWithEverythingPredictionNeeds) {
  const ScratchFolder folder;
  save_field_model(folder / "m.safetensors", trained());
  const FieldModel back = load_field_model(folder / "m.safetensors");
  EXPECT_EQ(back.domain, trained().domain);
  EXPECT_EQ(back.info.value, trained().info.value);
  EXPECT_EQ(back.info.noise_sd, trained().info.noise_sd);
  EXPECT_EQ(back.info.extent, trained().info.extent);
  EXPECT_EQ(back.info.provenance, "forty made-up tracks");
  EXPECT_EQ(back.cells.bits, trained().cells.bits);
  EXPECT_EQ(back.settings, trained().settings);
  EXPECT_EQ(back.scores, trained().scores);
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {1.0, 2.0}, lat = {20.0, 30.0}, time = {20003.0};
  EXPECT_EQ(predict_field(*engine, back, lon, lat, time).mean, predict_field(*engine, trained(), lon, lat, time).mean);
}

TEST(FieldModelFile, WithAbsurdStatisticsIsRefused) {
  const ScratchFolder folder;
  const auto refused = [&](const std::function<void(FieldInfo&)>& change) {
    FieldModel model = trained();
    change(model.info);
    save_field_model(folder / "m.safetensors", model);
    EXPECT_THROW(load_field_model(folder / "m.safetensors"), Error);
  };
  refused([](FieldInfo& info) { info.noise_sd = 1e300; });
  refused([](FieldInfo& info) { info.spread_scale = 1e300; });
  refused([](FieldInfo& info) { info.conformal[2] = 1e300; });
  for (const Standard& value : {Standard{0.0, 1e300}, Standard{1e300, 1.0}, Standard{0.0, 1e-300}}) {
    Domain domain = trained().domain;
    domain.value = value;
    EXPECT_THROW(check(domain), UsageError) << value.mean << " " << value.sd;
  }
}

// They reach the TOML library, whose recursion has no end: it would overflow the stack.
TEST(FieldModelFile, WithSettingsNestedWithoutEndIsRefusedWhenTheyAreRead) {
  const ScratchFolder folder;
  FieldModel model = trained();
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
  FieldModel model = trained();
  for (Member& member : model.ensemble.members) {
    for (float& weight : member.parameters) weight = 1e38F;
  }
  const std::vector<double> lon = {1.0}, lat = {20.0}, time = {20003.0};
  EXPECT_THROW(predict_field(*make_cpu_engine(), model, lon, lat, time), Error);
}

// The cells of a model of an earlier version: half a degree, bits within the JSON.
TEST(FieldModelFile, OfAnEarlierVersionLoads) {
  const ScratchFolder folder;
  FieldModel unknown = trained();
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
  save_model(folder / "bare.safetensors", trained().ensemble);
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
  const FieldPrediction prediction = predict_field(*engine, trained(), lon, lat, time, {.members = true});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(prediction.mean[i], smooth_field(lon[i], lat[i], time[0]), 0.3);
    double mean = 0.0, square = 0.0;
    for (std::size_t m = 0; m < 4; ++m) mean += prediction.members[m * 3 + i] / 4.0;
    for (std::size_t m = 0; m < 4; ++m) square += std::pow(prediction.members[m * 3 + i] - mean, 2) / 3.0;
    EXPECT_NEAR(prediction.mean[i], mean, 1e-5);
    const double spread = trained().info.spread_scale * std::sqrt(square);
    EXPECT_NEAR(prediction.sd_epistemic[i], spread, 1e-5);
    EXPECT_NEAR(prediction.sd_total[i], std::hypot(spread, trained().info.noise_sd), 1e-5);
  }
}

TEST(PredictField, LeavesPositionsThatAreNoneEmpty) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {std::nan(""), 0.0}, lat = {20.0, 25.0}, time = {20005.0};
  const FieldPrediction prediction = predict_field(*engine, trained(), lon, lat, time, {.members = true, .gradient = true});
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
  const FieldPrediction p = predict_field(*engine, trained(), lon, lat, time, {.gradient = true, .gradient_scale = 0.0});
  const double east = (p.mean[2] - p.mean[1]) / (2 * step_deg * km_per_degree * std::cos(lat0 * 3.14159265358979 / 180.0));
  const double north = (p.mean[4] - p.mean[3]) / (2 * step_deg * km_per_degree);
  EXPECT_NEAR(p.gradient[0].east, east, 2e-4 * std::hypot(east, north) + 2e-6);  // the ellipsoid against the sphere: under 1 %
  EXPECT_NEAR(p.gradient[0].north, north, 1e-2 * std::abs(north) + 2e-6);
}

TEST(PredictField, RefusesTimesThatDoNotFit) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {0.0, 1.0, 2.0}, lat = lon, two_times = {1.0, 2.0};
  EXPECT_THROW(predict_field(*engine, trained(), lon, lat, {}), UsageError);
  EXPECT_THROW(predict_field(*engine, trained(), lon, lat, two_times), UsageError);
}

TEST(DaysOutside, IsZeroInsideAndSignedOutside) {
  const FieldInfo info = {.has_time = true, .first_time_days = 10.0, .last_time_days = 20.0};
  EXPECT_EQ(days_outside(info, 15.0), 0.0);
  EXPECT_EQ(days_outside(info, 8.0), -2.0);
  EXPECT_EQ(days_outside(info, 25.0), 5.0);
}

TEST(NearData, KnowsDistancesAcrossTheDateLineAndThePole) {
  Observations o;
  o.lon_deg = {179.9, 10.0};
  o.lat_deg = {0.0, 89.9};
  o.value = {1.0, 2.0};
  const Domain sphere = sphere_domain();
  const DataCells cells = data_cells(sphere, o);
  const std::vector<double> lon = {-179.9, -178.0, -170.0, std::nan("")}, lat = {0.0, 89.8, 0.0, 0.0};
  // 22 km across the date line, 30 km across the pole, 1100 km away, nowhere.
  EXPECT_EQ(NearData(sphere, cells, 100.0)(lon, lat), (std::vector<char>{1, 1, 0, 0}));
  EXPECT_THROW(NearData(sphere, cells, 0.0)(lon, lat), UsageError);
}

double great_circle_km(double lon_a, double lat_a, double lon_b, double lat_b) {
  const UnitVector a = unit_vector({lon_a, lat_a}), b = unit_vector({lon_b, lat_b});
  return 2.0 * kEarthRadiusKm * std::asin(0.5 * std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
}

// Positions around scattered observations: none within the distance is left out, and none beyond it by more than a cell's
// diagonal let in.
void expect_exact_to(double tolerance_km, const DataCells& cells, const Observations& o, double distance_km) {
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  std::vector<double> lon = o.lon_deg, lat = o.lat_deg;
  for (std::size_t i = 0; i < 2000; ++i) {
    lon.push_back(o.lon_deg[i % o.size()] + 3.0 * random.normal());
    lat.push_back(std::clamp(o.lat_deg[i % o.size()] + random.normal(), -90.0, 90.0));
  }
  const std::vector<char> near = NearData(sphere_domain(), cells, distance_km)(lon, lat);
  std::size_t within = 0;
  for (std::size_t i = 0; i < lon.size(); ++i) {
    double least = INFINITY;
    for (std::size_t j = 0; j < o.size(); ++j)
      least = std::min(least, great_circle_km(lon[i], lat[i], o.lon_deg[j], o.lat_deg[j]));
    within += least <= distance_km ? 1 : 0;
    if (least <= distance_km) {
      EXPECT_TRUE(near[i]) << lon[i] << " " << lat[i] << ": " << least << " km";
    }
    if (least > distance_km + tolerance_km) {
      EXPECT_FALSE(near[i]) << lon[i] << " " << lat[i] << ": " << least << " km";
    }
  }
  EXPECT_GE(within, o.size());
  EXPECT_LT(within, lon.size());
}

Observations scattered(double west, double width, double south, double height) {
  RandomStream random({.seed = 3, .purpose = Purpose::simulation});
  Observations o;
  for (int i = 0; i < 200; ++i) {
    const double lon = west + width * random.uniform();
    o.lon_deg.push_back(lon > 180.0 ? lon - 360.0 : lon);
    o.lat_deg.push_back(south + height * random.uniform());
    o.value.push_back(0.0);
  }
  return o;
}

TEST(NearData, NeverLeavesOutAPositionWithinTheDistanceOfAnObservation) {
  for (const double distance_km : {1.0, 25.0, 150.0}) {
    const Observations globe = scattered(-180.0, 360.0, -90.0, 180.0), pacific = scattered(160.0, 40.0, 30.0, 30.0),
                       arctic = scattered(-180.0, 360.0, 75.0, 15.0);
    expect_exact_to(20.0, data_cells(sphere_domain(), globe), globe, distance_km);
    expect_exact_to(3.0, data_cells(sphere_domain(), pacific), pacific, distance_km);
    expect_exact_to(5.0, data_cells(sphere_domain(), arctic), arctic, distance_km);
  }
}

// Cells of half a degree over the whole Earth, as models of earlier versions have them: 25 km once left out the observations
// themselves.
TEST(NearData, OfAnOlderModelKeepsTheObservationsToo) {
  const Observations o = scattered(-180.0, 360.0, -90.0, 180.0);
  DataCells cells = {720, 360, {-180.0, -90.0, 180.0, 90.0}, std::vector<std::uint8_t>(720 * 360 / 8)};
  for (std::size_t i = 0; i < o.size(); ++i) {
    const auto cell =
        static_cast<std::size_t>(std::floor(2.0 * (o.lat_deg[i] + 90.0)) * 720.0 + std::floor(2.0 * (o.lon_deg[i] + 180.0)));
    cells.bits[cell / 8] |= static_cast<std::uint8_t>(1U << (cell % 8));
  }
  expect_exact_to(79.0, cells, o, 25.0);
}

TEST(NearData, TakesOneObservationAndNone) {
  Observations o;
  o.lon_deg = {12.3};
  o.lat_deg = {45.6};
  o.value = {1.0};
  const std::vector<double> lon = {12.3, 13.0}, lat = {45.6, 45.6};
  for (const Domain& domain : {sphere_domain(), xy_domain("km")}) {
    EXPECT_EQ(NearData(domain, data_cells(domain, o), 0.1)(lon, lat), (std::vector<char>{1, 0}));
    EXPECT_EQ(NearData(domain, data_cells(domain, Observations()), 0.1)(lon, lat), (std::vector<char>{0, 0}));
  }
}

TEST(NearData, TakesPlainCoordinatesInTheirUnit) {
  Observations o;
  o.lon_deg = {0.0, 1000.0};
  o.lat_deg = {0.0, 1000.0};
  o.value = {1.0, 2.0};
  const Domain plane = xy_domain("m");
  const DataCells cells = data_cells(plane, o);
  const std::vector<double> x = {10.0, 500.0, 990.0}, y = {10.0, 500.0, 995.0};
  EXPECT_EQ(NearData(plane, cells, 50.0)(x, y), (std::vector<char>{1, 0, 1}));
}

TEST(Base64, MatchesRfc4648) {
  const auto text = [](std::string_view plain) {
    return to_base64({reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size()});
  };
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foobar"), "Zm9vYmFy");
  for (const char* plain : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    const std::vector<std::uint8_t> bytes = from_base64(text(plain));
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), plain);
  }
  EXPECT_THROW(from_base64("Zg="), Error);
  EXPECT_THROW(from_base64("Z!=="), Error);
}

TEST(GeostrophicVelocity, BalancesTheSlope) {
  // At 45 N, f = 2 * 7.292115e-5 * sin 45 = 1.031261e-4 /s and g = 9.806199 m/s^2: a rise of 1 cm in 10 km to the north drives
  // 9.806199 / 1.031261e-4 * 1e-6 = 0.09508941 m/s to the west.
  const Velocity at45 = geostrophic_velocity(45.0, 0.0, 0.001);
  EXPECT_NEAR(at45.east, -0.0950894, 1e-6);
  EXPECT_EQ(at45.north, 0.0);
  EXPECT_GT(geostrophic_velocity(45.0, 0.001, 0.0).north, 0.0);
  EXPECT_LT(geostrophic_velocity(-45.0, 0.001, 0.0).north, 0.0);  // the other way round in the south
  EXPECT_TRUE(std::isnan(geostrophic_velocity(4.9, 0.001, 0.001).east));
  EXPECT_FALSE(std::isnan(geostrophic_velocity(-5.1, 0.001, 0.001).north));
}

TEST(SeaSurfaceHeight, IsOneAboveTheGeoidOrTheMeanSeaLevelAlone) {
  using Kind = SeaSurfaceHeight::Kind;
  const auto kind = [](const char* name, const char* standard_name, const char* unit = "m") {
    return sea_surface_height({name, "", standard_name, unit}).kind;
  };
  EXPECT_EQ(kind("h", "sea_surface_height_above_geoid", "cm"), Kind::absolute);
  EXPECT_EQ(kind("adt", ""), Kind::absolute);
  EXPECT_EQ(kind("sla_filtered", ""), Kind::anomaly);
  EXPECT_EQ(kind("h", "sea_surface_height_above_sea_level"), Kind::anomaly);
  EXPECT_EQ(kind("h", "sea_surface_height_above_mean_sea_level"), Kind::anomaly);
  EXPECT_DOUBLE_EQ(sea_surface_height({"h", "", "sea_surface_height_above_geoid", "cm"}).metres, 0.01);
  // The slope of these is the geoid's, the tide's, or nobody knows whose.
  for (const char* other : {"sea_surface_height_above_reference_ellipsoid", "sea_surface_height",
                            "sea_surface_wave_significant_height", "sea_surface_height_amplitude_due_to_geocentric_ocean_tide",
                            "sea_surface_height_above_geoid standard_error", "sea_surface_temperature"}) {
    EXPECT_EQ(kind("sla", other), Kind::none) << other;
  }
  EXPECT_EQ(kind("ssh", ""), Kind::none);
  EXPECT_EQ(kind("sla", "", "K"), Kind::none);
  EXPECT_THAT(sea_surface_height({"ssh", "", "sea_surface_height_above_reference_ellipsoid", "m"}).why_none,
              HasSubstr("is neither a height above the geoid"));
  EXPECT_THAT(sea_surface_height({"ssh", "", "", "m"}).why_none, HasSubstr("call it adt if that is the geoid"));
  EXPECT_THAT(sea_surface_height({"sla", "", "", "K"}).why_none, HasSubstr("\"K\""));
  EXPECT_THAT(sea_surface_height({"sst", "", "sea_surface_temperature", "K"}).why_none,
              HasSubstr("'sst' (sea_surface_temperature) is not a height"));
}

MapReport small_map(const ScratchFolder& folder, const VariableInfo& value, const MapOptions& more = {}) {
  FieldModel model = trained();
  model.info.value = value;
  MapOptions options = more;
  options.grid = parse_grid("bbox:0,20,4,24:2");
  options.time_days = {20005.0};
  options.wants.gradient = true;
  return predict_map(*make_cpu_engine({.threads = 1}), model, options, netcdf_sink(folder / "map.nc"));
}

TEST(PredictMap, GivesAnomaliesOfCurrentsTheirOwnNames) {
  const ScratchFolder folder;
  const auto standard_name = [&](const char* name) {
    const NcReader file(folder / "map.nc");
    return file.find(name) == nullptr ? "" : file.text(*file.find(name), "standard_name").value_or("");
  };
  EXPECT_EQ(small_map(folder, {"adt", "", "sea_surface_height_above_geoid", "m"}).lacks.currents, "");
  EXPECT_EQ(standard_name("ugos"), "surface_geostrophic_eastward_sea_water_velocity");
  EXPECT_EQ(standard_name("vgosa"), "");
  EXPECT_EQ(small_map(folder, {"sla", "", "sea_surface_height_above_sea_level", "m"}).lacks.currents, "");
  EXPECT_EQ(standard_name("ugosa"), "surface_geostrophic_eastward_sea_water_velocity_assuming_mean_sea_level_for_geoid");
  EXPECT_EQ(standard_name("vgosa"), "surface_geostrophic_northward_sea_water_velocity_assuming_mean_sea_level_for_geoid");
  EXPECT_EQ(standard_name("ugos"), "");
  const MapReport none = small_map(folder, {"mss", "", "sea_surface_height_above_reference_ellipsoid", "m"});
  EXPECT_THAT(none.lacks.currents, HasSubstr("height above the geoid"));
  EXPECT_THAT(none.variables, testing::Not(testing::Contains(testing::StartsWith("ugos"))));
}

// Transverse Mercator ends some 90 degrees of longitude from its meridian.
TEST(PredictMap, LeavesPointsBeyondTheReachOfThePlaneEmpty) {
  Dataset data = small_dataset();
  RunSettings settings = small_settings();
  settings.fit.method = FitMethod::process;
  settings.domain.kind = DomainKind::plane;
  settings.domain.crs = "EPSG:32631";
  const FieldModel model = fit(plan_fit(settings, data), data).model;
  const auto engine = make_cpu_engine();
  Field field;
  const MapOptions options = {.grid = parse_grid("bbox:-13,-2,113,4:6"), .time_days = {20005.0}};
  const MapReport report = predict_map(*engine, model, options, memory_sink(field));
  EXPECT_EQ(report.points, 21u);
  EXPECT_GT(report.far.unreached, 0u);
  EXPECT_EQ(report.filled + report.far.unreached, 21u);
  std::size_t missing = 0;
  for (const double value : field.layer("ssh")) missing += std::isnan(value) ? 1 : 0;
  EXPECT_EQ(missing, report.far.unreached);
  const ScratchFolder folder;
  write_bytes(folder / "points.csv", "lon,lat\n3,20\n93,0\n,20\n");
  const PointsReport points = predict_points(*engine, model, folder / "points.csv", folder / "out.csv", {}, 20005.0);
  EXPECT_EQ(points.far.unreached, 1u);
  EXPECT_EQ(points.missing, 1u) << "the row without a longitude";
  data.observations.lon_deg[7] = 93.0, data.observations.lat_deg[7] = 0.0;
  try {
    score_model(*engine, model, data);
    ADD_FAILURE() << "an observation without a forecast";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("longitude 93, latitude 0 lies beyond the reach"));
  }
}

TEST(PredictMap, CarriesTheCallersHistoryAndAttributes) {
  const ScratchFolder folder;
  const VariableInfo value = {"adt", "", "sea_surface_height_above_geoid", "m"};
  small_map(folder, value,
            {.grid = {}, .command = "my program --with flags", .attributes = {{"license", "CC-BY-4.0"}, {"title", "Mine"}}});
  const NcReader file(folder / "map.nc");
  EXPECT_THAT(file.text("history").value_or(""), testing::AllOf(testing::StartsWith("observations: forty made-up tracks\n"),
                                                                testing::EndsWith("Z my program --with flags")));
  EXPECT_EQ(file.text("license"), "CC-BY-4.0");
  EXPECT_EQ(file.text("title"), "Mine");
  for (const char* name :
       {"Conventions", "history", "geospatial_lat_min", "time_coverage_start", "_FillValue", "a b", "9x", ""}) {
    EXPECT_THROW(small_map(folder, value, {.grid = {}, .attributes = {{name, "text"}}}), UsageError) << name;
  }
  EXPECT_THROW(small_map(folder, value, {.grid = {}, .attributes = {{"id", ""}}}), UsageError);
}

// The trained field on an offset that takes all of float32's digits: 0.1 f + 101325.
FieldModel on_an_offset() {
  FieldModel model = trained();
  model.domain.value = {.mean = 101325.0, .sd = 0.1};
  model.info.noise_sd *= 0.1 / trained().domain.value.sd;
  model.info.value = {"pressure", "", "", "Pa"};
  return model;
}

// Standardised, so that models that differ in their values' scale alone can be compared.
std::vector<double> without(const Standard& value, std::vector<double> numbers) {
  for (double& number : numbers) number = value.to_engine(number);
  return numbers;
}

constexpr double kOffsetRounding = 1e-5;  // in standard deviations: what digits_worth_keeping promises

TEST(PredictField, KeepsAFieldThatIsSmallAgainstItsMean) {
  const auto engine = make_cpu_engine();
  const FieldModel offset = on_an_offset();
  const std::vector<double> lon = {1.0, 2.0, 3.0}, lat = {20.0, 25.0, 30.0}, time = {20003.0};
  const PredictWants wants = {.members = true};
  const FieldPrediction plain = predict_field(*engine, trained(), lon, lat, time, wants),
                        shifted = predict_field(*engine, offset, lon, lat, time, wants);
  constexpr double kDouble = 1e-9;  // 101325 / 0.1 times double's rounding
  EXPECT_THAT(without(offset.domain.value, shifted.mean),
              testing::Pointwise(testing::DoubleNear(kDouble), without(trained().domain.value, plain.mean)));
  EXPECT_THAT(without(offset.domain.value, shifted.members),
              testing::Pointwise(testing::DoubleNear(kDouble), without(trained().domain.value, plain.members)));
}

TEST(PredictMap, StoresSuchAFieldInDoubleAndOthersInSingle) {
  const ScratchFolder folder;
  const FieldModel offset = on_an_offset();
  const auto engine = make_cpu_engine();
  const MapOptions options = {.grid = parse_grid("bbox:0,20,4,24:2"), .time_days = {20005.0}, .wants = {.members = true}};
  predict_map(*engine, trained(), options, netcdf_sink(folder / "plain.nc"));
  predict_map(*engine, offset, options, netcdf_sink(folder / "offset.nc"));
  const NcReader plain(folder / "plain.nc"), file(folder / "offset.nc");
  EXPECT_EQ(plain.find("ssh")->type, NC_FLOAT);
  EXPECT_EQ(file.find("pressure_uncertainty")->type, NC_FLOAT);
  for (const auto& [name, other] : {std::pair{"pressure", "ssh"},
                                    {"pressure_members", "ssh_members"},
                                    {"pressure_lower90", "ssh_lower90"},
                                    {"pressure_upper90", "ssh_upper90"}}) {
    EXPECT_EQ(file.find(name)->type, NC_DOUBLE) << name;
    EXPECT_THAT(
        without(offset.domain.value, file.read(*file.find(name))),
        testing::Pointwise(testing::DoubleNear(kOffsetRounding), without(trained().domain.value, plain.read(*plain.find(other)))))
        << name;
  }
}

TEST(PredictPoints, WritesAsManyDigitsAsTheUncertaintyDeserves) {
  const ScratchFolder folder;
  write_bytes(folder / "points.csv", "lon,lat,time\n1,20,2004-10-08\n2,25,2004-10-08\n");
  const FieldModel offset = on_an_offset();
  const auto engine = make_cpu_engine();
  const auto means = [&](const FieldModel& model) {
    predict_points(*engine, model, folder / "points.csv", folder / "out.csv", {}, {}, {});
    std::istringstream rows(read_bytes(folder / "out.csv"));
    std::vector<double> numbers;
    for (std::string row; std::getline(rows, row);) {
      std::istringstream fields(row);
      for (int i = 0; i < 4; ++i) std::getline(fields, row, ',');
      if (row.find_first_not_of("-.0123456789") == std::string::npos) numbers.push_back(std::stod(row));
    }
    return without(model.domain.value, numbers);
  };
  const std::vector<double> wanted = means(trained());
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_THAT(means(offset), testing::Pointwise(testing::DoubleNear(kOffsetRounding), wanted));
}

FieldModel model_of(const Domain& domain, const std::array<double, 4>& extent) {
  FieldModel model;
  model.domain = domain;
  model.info.extent = extent;
  return model;
}

TEST(DefaultGrid, CoversTheObservations) {
  EXPECT_EQ(default_grid(model_of(sphere_domain(), {-180, -70, 180, 80})).name, "global:1");
  const Grid polar = default_grid(model_of(plane_domain("EPSG:6931"), {-180, 62, 180, 88}));
  EXPECT_EQ(polar.crs, "EPSG:6931");
  EXPECT_LE(polar.x.first, -3050e3);
  const Grid region = default_grid(model_of(plane_domain("+proj=laea +lat_0=40 +lon_0=0"), {-12.3, 30.1, 9.7, 44.9}));
  EXPECT_LE(region.x.first - 0.5 * region.x.step, -12.3);
  EXPECT_GE(region.x.at(region.x.count - 1) + 0.5 * region.x.step, 9.7);
  EXPECT_LE(region.y.first - 0.5 * region.y.step, 30.1);
  const Grid pacific = default_grid(model_of(plane_domain("+proj=laea +lat_0=40 +lon_0=180"), {170, 30, -170, 44}));
  EXPECT_EQ(pacific.x.count * pacific.x.step, 20.0);
  const Grid plain = default_grid(model_of(xy_domain("m"), {0, 0, 1000, 400}));
  EXPECT_EQ(plain.name, "xy:0,0,1000,400:5");
  EXPECT_EQ(plain.x.unit, "m");
}

}  // namespace
}  // namespace drift
