#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demo_domain.h"
#include "drift/network_spec.h"
#include "drift/recipe.h"

// The demonstration: simulate tracks of a made-up field, fit an ensemble, predict, score, map.

struct DemoOptions {
  std::filesystem::path out = "drift-demo";
  std::string recipe = "default";  // or "paper"
  std::uint64_t seed = 1;
  int threads = 0;
  bool full = false;
  bool json = false;
  double noise_sd = 0.01;
  // Given on the command line, or chosen by `recipe` and `full`.
  std::optional<std::size_t> observations, members, batch;
  std::optional<int> layers, features, bottleneck;
  std::optional<double> epochs, rate, muon_rate, space_lengthscale, time_lengthscale, amplitude;
};

// The settings the options come to.
struct DemoSettings {
  std::size_t observations;
  std::size_t members;
  drift::NetworkSpec spec;
  drift::Recipe recipe;
};
DemoSettings settle(const DemoOptions& options);

// A 25 km grid over everything north of 62 N and a little beyond, for the map's edge.
struct DemoField {
  std::size_t side;  // the map's square grid has side x side points
  double spacing_km;
  std::vector<std::size_t> cell;     // [n] each point's place in that square, row 0 at the top
  std::vector<PlanePosition> plane;  // [n]
  std::vector<drift::Position> position;
  std::vector<double> truth, mean, sd;  // [n]; sd is empty when there is one member only
};

struct DemoScores {
  std::size_t points;  // grid points scored: 62 to 88 N
  double rmse;
  double held_out_rmse;  // against held-out observations, noise included
  // Of ensembles; one network alone has no spread.
  std::optional<double> crps, nll, coverage90;
};

struct DemoReport {
  DemoSettings settings;
  std::size_t training, held_out, tracks;
  std::uint64_t steps;  // a member
  double km_per_unit, days_per_unit;
  double simulate_s, train_s, predict_s;
  double peak_rss_mib;
  DemoScores scores;
};

void write_field_csv(const std::filesystem::path& path, const DemoField& field);
void write_map(const std::filesystem::path& path, const drift::Observations& observations, const DemoField& field,
               const DemoReport& report);
std::string report_json(const DemoOptions& options, const DemoReport& report);
std::string report_text(const DemoOptions& options, const DemoReport& report);
