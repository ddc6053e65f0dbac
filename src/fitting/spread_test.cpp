// The spread of a map knows where the observations are, in space and in time.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "drift/fit.h"
#include "drift/predict.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

constexpr double kFirstDay = 20000.0, kDays = 12.0;

// Waves that travel eastwards, one crest past a place every five days, seen along tracks on either side of a gap twelve degrees
// wide.
double travelling(double lon_deg, double lat_deg, double day) {
  return std::sin(2.0 * std::numbers::pi * (lon_deg / 15.0 - day / 5.0)) + std::cos(lat_deg / 4.0);
}

Dataset tracks_around_a_gap() {
  Dataset data;
  Observations& o = data.observations;
  RandomStream random({.seed = 41, .purpose = Purpose::simulation});
  constexpr int kTracks = 60, kPoints = 30;
  for (int track = 0; track < kTracks; ++track) {
    const double side = track % 2 == 0 ? -1.0 : 1.0, from = 6.0 + 14.0 * random.uniform();
    for (int i = 0; i < kPoints; ++i) {
      const double lat = 10.0 + 25.0 * i / kPoints, lon = side * (from + 0.1 * (lat - 10.0));
      const double day = kDays * track / kTracks + 1e-4 * i;
      o.lon_deg.push_back(lon);
      o.lat_deg.push_back(lat);
      o.time_days.push_back(kFirstDay + day);
      o.value.push_back(travelling(lon, lat, day) + 0.1 * random.normal());
      o.track.push_back(track);
      o.platform.push_back(0);
    }
  }
  o.platform_names = {"A"};
  data.tracks = kTracks;
  data.calendar_time = true;
  data.value = {"ssh", "Sea surface height", "sea_surface_height_above_geoid", "m"};
  return data;
}

struct Spreads {
  double on_tracks;     // at observations of one day, that day
  double other_tracks;  // on the same day, at observations of days four and more away
  double in_gap;        // on the same day, in the middle of the gap
  double later;         // at observations of the last day, four days later
  double last;          // at the same, that day
};

Spreads spreads_of(FitMethod method) {
  const Dataset data = tracks_around_a_gap();
  RunSettings settings = small_settings();
  settings.model.members = 5;
  settings.model.lengthscale = 3000.0;
  settings.fit.method = method;
  const FieldModel model = fit(plan_fit(settings, data), data).model;
  const std::unique_ptr<Engine> engine = make_engine(settings);
  const Observations& o = data.observations;
  constexpr double kDay = kFirstDay + 6.0;
  const auto mean_sd = [&](double when, const auto& take) {
    std::vector<double> lon, lat;
    for (std::size_t i = 0; i < o.size(); i += 5) {
      double at = o.lon_deg[i];
      if (!take(o.time_days[i], at)) continue;
      lon.push_back(at), lat.push_back(o.lat_deg[i]);
    }
    const FieldPrediction found = predict_field(*engine, model, lon, lat, std::vector<double>{when}, {});
    return std::accumulate(found.sd_epistemic.begin(), found.sd_epistemic.end(), 0.0) / static_cast<double>(lon.size());
  };
  const auto that_day = [](double t, double&) { return std::abs(t - kDay) < 0.5; };
  const auto last_day = [](double t, double&) { return t > kFirstDay + kDays - 1.0; };
  return {.on_tracks = mean_sd(kDay, that_day),
          .other_tracks = mean_sd(kDay, [](double t, double&) { return std::abs(t - kDay) > 4.0; }),
          .in_gap = mean_sd(kDay, [](double, double& lon) { return lon = 0.02 * lon, true; }),
          .later = mean_sd(kFirstDay + kDays + 4.0, last_day),
          .last = mean_sd(kFirstDay + kDays - 0.5, last_day)};
}

// On one day the tracks of the days around it are known best.
TEST(Spread, OfABlendFollowsTheTracksOfTheDaysAroundAndGrowsAwayFromThemInSpaceAndTime) {
  const Spreads sd = spreads_of(FitMethod::blend);
  EXPECT_GT(sd.other_tracks, 1.1 * sd.on_tracks);
  EXPECT_GT(sd.in_gap, 1.5 * sd.other_tracks);
  EXPECT_GT(sd.later, 1.5 * sd.last);
}

// Networks alone know less: a gap, and the end of the observations, but not the tracks of a day.
TEST(Spread, OfNetworksAloneGrowsAwayFromObservationsInSpaceAndTime) {
  const Spreads sd = spreads_of(FitMethod::network);
  EXPECT_GT(sd.in_gap, 1.5 * sd.other_tracks);
  EXPECT_GT(sd.later, 1.5 * sd.last);
}

}  // namespace
}  // namespace drift
