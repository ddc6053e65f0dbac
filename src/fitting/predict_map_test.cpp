#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <sstream>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/predict.h"
#include "fitting/fitting_testing.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

using testing::HasSubstr;

MapReport small_map(const ScratchFolder& folder, const VariableInfo& value, const MapOptions& more = {}) {
  FieldModel model = small_model();
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
  FieldModel model = small_model();
  model.domain.value = {.mean = 101325.0, .sd = 0.1};
  model.info.noise_sd *= 0.1 / small_model().domain.value.sd;
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
  const FieldPrediction plain = predict_field(*engine, small_model(), lon, lat, time, wants),
                        shifted = predict_field(*engine, offset, lon, lat, time, wants);
  constexpr double kDouble = 1e-9;  // 101325 / 0.1 times double's rounding
  EXPECT_THAT(without(offset.domain.value, shifted.mean),
              testing::Pointwise(testing::DoubleNear(kDouble), without(small_model().domain.value, plain.mean)));
  EXPECT_THAT(without(offset.domain.value, shifted.members),
              testing::Pointwise(testing::DoubleNear(kDouble), without(small_model().domain.value, plain.members)));
}

TEST(PredictMap, StoresSuchAFieldInDoubleAndOthersInSingle) {
  const ScratchFolder folder;
  const FieldModel offset = on_an_offset();
  const auto engine = make_cpu_engine();
  const MapOptions options = {.grid = parse_grid("bbox:0,20,4,24:2"), .time_days = {20005.0}, .wants = {.members = true}};
  predict_map(*engine, small_model(), options, netcdf_sink(folder / "plain.nc"));
  predict_map(*engine, offset, options, netcdf_sink(folder / "offset.nc"));
  const NcReader plain(folder / "plain.nc"), file(folder / "offset.nc");
  EXPECT_EQ(plain.find("ssh")->type, NC_FLOAT);
  EXPECT_EQ(file.find("pressure_uncertainty")->type, NC_FLOAT);
  for (const auto& [name, other] : {std::pair{"pressure", "ssh"},
                                    {"pressure_members", "ssh_members"},
                                    {"pressure_lower90", "ssh_lower90"},
                                    {"pressure_upper90", "ssh_upper90"}}) {
    EXPECT_EQ(file.find(name)->type, NC_DOUBLE) << name;
    EXPECT_THAT(without(offset.domain.value, file.read(*file.find(name))),
                testing::Pointwise(testing::DoubleNear(kOffsetRounding),
                                   without(small_model().domain.value, plain.read(*plain.find(other)))))
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
  const std::vector<double> wanted = means(small_model());
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_THAT(means(offset), testing::Pointwise(testing::DoubleNear(kOffsetRounding), wanted));
}

}  // namespace
}  // namespace drift
