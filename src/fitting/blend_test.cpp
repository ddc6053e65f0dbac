#include "fitting/blend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "fitting/fitting_testing.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "network/safetensors.h"
#include "process/process.h"

namespace drift {
namespace {

using testing::HasSubstr;

// n rows in tracks of ten: the truth, and both parts with errors of their own.
OutOfFold independent_errors(int n, double process_sd, double network_sd) {
  RandomStream random({.seed = 3, .purpose = Purpose::simulation});
  OutOfFold out;
  for (int i = 0; i < n; ++i) {
    const double truth = random.normal();
    out.y.push_back(truth);
    out.process.push_back(truth + process_sd * random.normal());
    out.network.push_back(truth + network_sd * random.normal());
    out.group.push_back(static_cast<std::uint32_t>(i / 10));
  }
  return out;
}

double blend_rmse(const OutOfFold& out, const BlendWeight& weight) { return part_worth(out, weight, sphere_domain()).blend_rmse; }

TEST(BlendWeight, HasTheLeastSquaredErrorOfAllWeights) {
  const OutOfFold out = independent_errors(20000, 0.3, 0.6);
  const BlendWeight found = blend_weight(out);
  const double least = blend_rmse(out, found);
  for (const double step : {-0.1, 0.1}) EXPECT_GT(blend_rmse(out, {found.process + step, found.reach}), least) << step;
  const PartWorth worth = part_worth(out, found, sphere_domain());
  EXPECT_LT(worth.blend_rmse, std::min(worth.process_rmse, worth.network_rmse));
  // Damping costs little against the best plain mean of independent errors, 1 / sqrt(1 / 0.3^2 + 1 / 0.6^2) = 0.268.
  EXPECT_LT(worth.blend_rmse, 1.04 * 0.268);
}

TEST(BlendWeight, LeavesToTheProcessWhatTracksDoNotAgreeOn) {
  // Networks that know nothing the process does not: of ten tracks some find them useful by chance.
  RandomStream random({.seed = 4, .purpose = Purpose::simulation});
  double shares = 0.0, plain = 0.0;
  for (int repetition = 0; repetition < 200; ++repetition) {
    OutOfFold out;
    for (std::uint32_t track = 0; track < 10; ++track) {
      const double error = random.normal(), difference = random.normal();
      for (int i = 0; i < 20; ++i) {
        out.y.push_back(error), out.process.push_back(0.0), out.network.push_back(difference), out.group.push_back(track);
      }
    }
    shares += 1.0 - blend_weight(out).process;
    out.group.clear();  // as if each row were independent
    plain += 1.0 - blend_weight(out).process;
  }
  EXPECT_LT(shares, 0.5 * plain);
}

TEST(BlendWeight, StaysWithinItsParts) {
  OutOfFold out;
  out.y = {1.0, 2.0, 3.0};
  out.process = {1.1, 2.1, 3.1};
  out.network = {1.3, 2.3, 3.3};  // beyond the process as seen from the truth
  EXPECT_EQ(blend_weight(out).process, 1.0);
  std::swap(out.process, out.network);
  EXPECT_EQ(blend_weight(out).process, 0.0);
  out.network = out.process;
  EXPECT_EQ(blend_weight(out), BlendWeight{});
}

TEST(Blended, CountsNetworksTheLessTheFurtherTheyAreFromTheProcess) {
  const BlendWeight weight = {.process = 0.6, .reach = 0.5};
  EXPECT_NEAR(blended(weight, 1.0, 0.2, 1.0 + 1e-4).mean - 1.0, 0.4e-4, 1e-10);
  EXPECT_NEAR(blended(weight, 1.0, 0.2, 1.5).mean, 1.0 + 0.5 * 0.4 * 0.5, 1e-12);  // half at the reach
  EXPECT_LT(std::abs(blended(weight, 1.0, 0.2, 101.0).mean - 1.0), 0.002);
  EXPECT_LT(blended(weight, 1.0, 0.2, 101.0).variance, 0.2 + 0.4 * 0.25 + 1e-9);
}

TEST(Blended, DerivativeAgreesWithFiniteDifferences) {
  const BlendWeight weight = {.process = 0.3, .reach = 0.7};
  for (const double network : {-3.0, -0.4, 0.2, 0.9, 2.5}) {
    const double step = 1e-6, process = 0.1;
    const double by_network =
        (blended(weight, process, 0.2, network + step).mean - blended(weight, process, 0.2, network - step).mean) / (2.0 * step);
    const double by_process =
        (blended(weight, process + step, 0.2, network).mean - blended(weight, process - step, 0.2, network).mean) / (2.0 * step);
    const double found = blended(weight, process, 0.2, network).by_network;
    EXPECT_NEAR(found, by_network, 1e-8) << network;
    EXPECT_NEAR(1.0 - found, by_process, 1e-8) << network;
    EXPECT_GT(std::abs(found - (1.0 - weight.process)), 1e-3) << network;  // not the plain weight
  }
}

TEST(PlanFit, FoldsNeverSplitATrack) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit({}, data);
  EXPECT_EQ(plan.method, FitMethod::blend);
  EXPECT_TRUE(plan.out_of_fold);
  EXPECT_TRUE(plan.split.held_out.empty());
  ASSERT_EQ(plan.folds.of.size(), plan.split.training.size());
  std::map<std::int32_t, std::set<int>> folds_of_track;
  for (std::size_t i = 0; i < plan.folds.of.size(); ++i) {
    folds_of_track[data.observations.track[plan.split.training[i]]].insert(plan.folds.of[i]);
  }
  for (const auto& [track, folds] : folds_of_track) EXPECT_EQ(folds.size(), 1u) << track;
}

TEST(PlanFit, TakesNetworksAloneWhereABlendCannotBe) {
  const Dataset data = small_dataset();
  const auto method = [&](const std::function<void(RunSettings&)>& change) {
    RunSettings settings;
    change(settings);
    return plan_fit(settings, data).method;
  };
  EXPECT_EQ(method([](RunSettings& s) { s.recipe = RecipeName::paper; }), FitMethod::network);
  EXPECT_EQ(method([](RunSettings& s) { s.model.members = 1; }), FitMethod::network);
  EXPECT_EQ(method([](RunSettings& s) { s.uncertainty.method = UncertaintyMethod::dropout; }), FitMethod::network);
  RunSettings wrong;
  wrong.fit.method = FitMethod::blend;
  wrong.uncertainty.method = UncertaintyMethod::variational;
  try {
    plan_fit(wrong, data);
    FAIL() << "a blend of variational networks was planned";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--method network"));
  }
}

// Members and process forecast a fold by what they were fitted to without it: other values in that fold change nothing.
TEST(OutOfFold, ForecastsDoNotDependOnTheObservationsForecast) {
  const Dataset data = small_dataset();
  RunSettings settings = small_settings();
  settings.train.epochs = 4.0;
  const FitPlan plan = plan_fit(settings, data);
  const auto engine = make_cpu_engine();
  const auto forecasts = [&](double added_to_fold_0) {
    Observations changed = data.observations;
    for (std::size_t i = 0; i < plan.folds.of.size(); ++i) {
      if (plan.folds.of[i] == 0) changed.value[plan.split.training[i]] += added_to_fold_0;
    }
    const MethodData rows = method_data(plan, changed);
    Ensemble ensemble = draw_networks(plan);
    TrainingState state;
    train(*engine, ensemble, state, rows.rows.view(), plan.recipe);
    const PlaceData places = {.coordinates = rows.rows.view().coordinates,
                              .values = rows.rows.values,
                              .error_variance = {},
                              .track = changed.track,
                              .platform = {},
                              .fold = plan.folds.of};
    const Process process(space_of(plan.domain), true, ProcessParameters{.length_x = 0.5, .length_y = 0.5},
                          gather_places(space_of(plan.domain), true, places, {}), 40);
    return forecast_out_of_fold(*engine, plan, changed, rows.view(), ensemble, process);
  };
  const OutOfFold before = forecasts(0.0), after = forecasts(5.0);
  std::size_t others_moved = 0;
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    if (plan.folds.of[i] == 0) {
      EXPECT_EQ(before.network[i], after.network[i]) << i;
      EXPECT_EQ(before.process[i], after.process[i]) << i;
    } else if (before.network[i] != after.network[i] && before.process[i] != after.process[i]) {
      ++others_moved;
    }
  }
  EXPECT_GT(others_moved, before.rows.size() / 4) << "the others saw fold 0, and must notice";
}

FieldModel fitted(FitMethod method, std::optional<DomainKind> domain = {}) {
  const Dataset data = small_dataset(24, 20);
  RunSettings settings = small_settings();
  settings.fit.method = method;
  settings.domain.kind = domain;
  const FitResult result = fit(plan_fit(settings, data), data);
  EXPECT_TRUE(result.held_out) << "scored out of fold";
  return result.model;
}

TEST(FieldModelFile, KeepsBlendsAndProcesses) {
  const auto engine = make_cpu_engine();
  const std::vector<double> lon = {1.0, 2.0, -7.0}, lat = {20.0, 30.0, 25.0}, time = {20003.0};
  for (const FitMethod method : {FitMethod::blend, FitMethod::process}) {
    const ScratchFolder folder;
    const FieldModel model = fitted(method);
    save_field_model(folder / "m.safetensors", model);
    const FieldModel back = load_field_model(folder / "m.safetensors");
    EXPECT_EQ(back.weight, model.weight);
    ASSERT_TRUE(back.process);
    EXPECT_EQ(back.process->parameters(), model.process->parameters());
    const FieldPrediction one = predict_field(*engine, model, lon, lat, time),
                          other = predict_field(*engine, back, lon, lat, time);
    EXPECT_EQ(one.mean, other.mean);
    EXPECT_EQ(one.sd_epistemic, other.sd_epistemic);
  }
}

TEST(FieldModelFile, KeepsALastingStructureAndTheNumbersOfNeighbours) {
  const ScratchFolder folder;
  const FieldModel model = fitted(FitMethod::process);
  ProcessParameters parameters = model.process->parameters();
  const auto save = [&](double share, double time, std::size_t far) {
    parameters.second_share = share, parameters.second_length = 2.0, parameters.second_time = time;
    FieldModel other = model;
    other.process = std::make_shared<Process>(model.process->space(), true, parameters, model.process->places(), 96, far);
    save_field_model(folder / "m.safetensors", other);
  };
  for (const std::size_t far : {0, 20}) {
    save(far > 0 ? 0.4 : 0.0, far > 0 ? 12.5 : 0.0, far);
    const FieldModel back = load_field_model(folder / "m.safetensors");
    EXPECT_EQ(back.process->parameters(), parameters);
    EXPECT_EQ(back.process->neighbours(), 96U);
    EXPECT_EQ(back.process->far_neighbours(), far);
  }
  save(0.4, INFINITY, 0);
  EXPECT_THROW(load_field_model(folder / "m.safetensors"), Error);
}

// Where the neighbours of a point change, the mean has small steps that its gradient does not see: most points have none nearby.
TEST(PredictField, OfABlendHasTheGradientOfItsMeanAtMostPoints) {
  const auto engine = make_cpu_engine();
  for (const std::optional<DomainKind> domain : {std::optional<DomainKind>(), std::optional(DomainKind::sphere)}) {
    const FieldModel model = fitted(FitMethod::blend, domain);
    constexpr double kStep = 0.02;  // degrees: wide enough for the mean's single precision
    constexpr int kPoints = 100;
    int agree = 0, agree_when_turned = 0;
    for (int i = 0; i < kPoints; ++i) {
      const double lon = -10.0 + 0.2 * i, lat = 15.0 + 0.21 * i;
      const std::vector<double> lons = {lon, lon + kStep, lon - kStep, lon, lon};
      const std::vector<double> lats = {lat, lat, lat, lat + kStep, lat - kStep};
      const FieldPrediction at =
          predict_field(*engine, model, lons, lats, std::vector<double>{20004.0}, {.gradient = true, .gradient_scale = 0.0});
      const double apart = 2.0 * kStep * kEarthRadiusKm * M_PI / 180.0;
      const double east = static_cast<double>(at.mean[1] - at.mean[2]) / (apart * std::cos(lat * M_PI / 180.0));
      const double north = static_cast<double>(at.mean[3] - at.mean[4]) / apart;
      const GroundGradient& found = at.gradient[0];
      const double tolerance = 0.1 * std::hypot(east, north) + 2e-5;
      agree += std::hypot(found.east - east, found.north - north) < tolerance;
      agree_when_turned += std::hypot(found.east - north, found.north - east) < tolerance;
    }
    EXPECT_GT(agree, kPoints / 2);
    EXPECT_LT(agree_when_turned, agree / 2) << "the axes exchanged must not pass";
  }
}

TEST(PredictField, SpreadGrowsAwayFromTheObservationsInSpaceAndInTime) {
  const auto engine = make_cpu_engine();
  const FieldModel model = fitted(FitMethod::blend);
  const auto sd = [&](double lon, double lat, double time) {
    const std::vector<double> x = {lon}, y = {lat}, t = {time};
    return predict_field(*engine, model, x, y, t).sd_epistemic[0];
  };
  const double among = sd(0.0, 25.0, 20005.0);
  EXPECT_GT(sd(70.0, 25.0, 20005.0), 2.0 * among);
  EXPECT_GT(sd(0.0, 25.0, 20060.0), 2.0 * among);
}

}  // namespace
}  // namespace drift
