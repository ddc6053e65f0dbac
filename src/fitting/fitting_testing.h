#pragma once

#include <cmath>

#include "core/random.h"
#include "drift/fit.h"

namespace drift {

// A smooth field over part of the Earth, seen along forty made-up tracks over ten days.
inline double smooth_field(double lon_deg, double lat_deg, double time_days) {
  return std::sin(lon_deg / 8.0) + std::cos(lat_deg / 5.0) + 0.2 * std::sin(time_days / 3.0);
}

inline Dataset small_dataset(std::size_t tracks = 40, std::size_t points = 60, double noise_sd = 0.05) {
  Dataset data;
  Observations& o = data.observations;
  RandomStream random({.seed = 11, .purpose = Purpose::simulation});
  for (std::size_t track = 0; track < tracks; ++track) {
    const double start_lon = -20.0 + 40.0 * random.uniform(), slope = random.uniform() < 0.5 ? -0.3 : 0.3;
    for (std::size_t i = 0; i < points; ++i) {
      const double along = 30.0 * static_cast<double>(i) / static_cast<double>(points);
      o.lon_deg.push_back(start_lon + slope * along);
      o.lat_deg.push_back(10.0 + along);
      o.time_days.push_back(20000.0 + 10.0 * static_cast<double>(track) / static_cast<double>(tracks) +
                            1e-4 * static_cast<double>(i));
      o.value.push_back(smooth_field(o.lon_deg.back(), o.lat_deg.back(), o.time_days.back()) + noise_sd * random.normal());
      o.track.push_back(static_cast<std::int32_t>(track));
      o.platform.push_back(static_cast<std::uint8_t>(track % 2));
    }
  }
  o.platform_names = {"A", "B"};
  data.tracks = tracks;
  data.calendar_time = true;
  data.value = {"ssh", "Sea surface height", "sea_surface_height_above_geoid", "m"};
  return data;
}

// Networks that train in a blink.
inline RunSettings small_settings() {
  RunSettings settings;
  settings.model.members = 4;
  settings.model.layers = 2;
  settings.model.features = 64;
  settings.model.bottleneck = 16;
  settings.model.lengthscale = 1500.0;
  settings.train.epochs = 30.0;
  settings.train.batch = 64;
  settings.threads = 2;
  return settings;
}

inline RunSettings network_settings(double epochs = 30.0) {
  RunSettings settings = small_settings();
  settings.fit.method = FitMethod::network;
  settings.train.epochs = epochs;
  return settings;
}

// Such networks, fitted once per program.
inline const FieldModel& small_model() {
  static const FieldModel model = [] {
    Dataset data = small_dataset();
    data.provenance = "forty made-up tracks";
    return fit(plan_fit(network_settings(), data), data).model;
  }();
  return model;
}

}  // namespace drift
