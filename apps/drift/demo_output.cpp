#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "demo.h"
#include "drift/error.h"
#include "drift/quick_look.h"
#include "progress.h"

namespace {

constexpr double kSouthDeg = 62.0;

drift::PlaneGrid map_grid(const DemoField& field, const std::vector<double>& values) {
  drift::PlaneGrid grid = {
      .size = field.side, .spacing_km = field.spacing_km, .values = std::vector<double>(field.side * field.side, std::nan(""))};
  for (std::size_t i = 0; i < values.size(); ++i) grid.values[field.cell[i]] = values[i];
  return grid;
}

drift::PlanePoints map_points(const drift::Observations& observations) {
  drift::PlanePoints points;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const PlanePosition plane = to_plane({observations.lon_deg[i], observations.lat_deg[i]});
    points.x_km.push_back(plane.x_km);
    points.y_km.push_back(plane.y_km);
  }
  points.values = observations.value;
  return points;
}

double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

const char* spread_verdict(double coverage90, std::size_t members) {
  if (coverage90 > 0.95) return "the spread is too wide";
  if (coverage90 >= 0.85) return "the spread is honest";
  return members < 10 ? "the spread of few networks is too narrow; ten come closer" : "the spread is too narrow";
}

}  // namespace

void write_field_csv(const std::filesystem::path& path, const DemoField& field) {
  const auto fail = [&] {
    throw drift::Error(fmt::format("{}: the field could not be written; is the disk full?", path.string()));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
  if (file == nullptr) throw drift::Error(fmt::format("{}: the field's file cannot be opened for writing", path.string()));
  fmt::print(file.get(), "lon_deg,lat_deg,x_km,y_km,truth,mean{}\n", field.sd.empty() ? "" : ",sd");
  for (std::size_t i = 0; i < field.truth.size(); ++i) {
    if (field.position[i].lat_deg < kSouthDeg) continue;
    fmt::print(file.get(), "{:.5f},{:.5f},{:g},{:g},{:.6f},{:.6f}", field.position[i].lon_deg, field.position[i].lat_deg,
               field.plane[i].x_km, field.plane[i].y_km, field.truth[i], field.mean[i]);
    if (!field.sd.empty()) fmt::print(file.get(), ",{:.6f}", field.sd[i]);
    fmt::print(file.get(), "\n");
  }
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) fail();
}

void write_map(const std::filesystem::path& path, const drift::Observations& observations, const DemoField& field,
               const DemoReport& report) {
  // One colour scale for values, wide enough for all but the outermost half per cent.
  const double reach = std::ceil(2.0 * std::max(-quantile(field.truth, 0.005), quantile(field.truth, 0.995))) / 2.0;
  const drift::ColourScale values = {drift::Palette::field, -reach, reach};
  const DemoScores& scores = report.scores;

  drift::QuickLook picture;
  picture.radius_km = parallel_radius_km(kSouthDeg);
  picture.rings = {{parallel_radius_km(70.0), "70 N"}, {parallel_radius_km(80.0), "80 N"}};
  const auto add = [&](std::string title, std::string subtitle, const drift::ColourScale& scale) -> drift::PolarPanel& {
    picture.panels.emplace_back();
    picture.panels.back().title = std::move(title);
    picture.panels.back().subtitle = std::move(subtitle);
    picture.panels.back().scale = scale;
    return picture.panels.back();
  };
  const std::string count = grouped(static_cast<double>(observations.size()));
  add("Observations", fmt::format("{} on {} passes of three satellites", count, report.tracks), values).points =
      map_points(observations);
  add("Truth", "made up, with structure at every scale", values).grid = map_grid(field, field.truth);
  add(report.settings.members == 1 ? "One network" : fmt::format("Mean of {} networks", report.settings.members),
      fmt::format("root-mean-square error {:.3f}", scores.rmse), values)
      .grid = map_grid(field, field.mean);
  if (!field.sd.empty()) {
    const drift::ColourScale spread = {drift::Palette::spread, 0.0, std::max(1e-6, quantile(field.sd, 0.98))};
    add("Standard deviation", fmt::format("90 % intervals hold {:.1f} % of the truth", 100.0 * *scores.coverage90), spread).grid =
        map_grid(field, field.sd);
  }
  drift::write_quick_look(path, picture);
}

std::string report_json(const DemoOptions& options, const DemoReport& report) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  const DemoScores& scores = report.scores;
  const nlohmann::ordered_json json = {
      {"recipe", options.recipe},
      {"seed", options.seed},
      {"observations", report.training + report.held_out},
      {"training_observations", report.training},
      {"held_out_observations", report.held_out},
      {"tracks", report.tracks},
      {"noise_sd", options.noise_sd},
      {"members", report.settings.members},
      {"steps", report.steps},
      {"epochs", report.settings.recipe.epochs},
      {"spec", nlohmann::ordered_json::parse(drift::to_json(report.settings.spec))},
      {"training", nlohmann::ordered_json::parse(drift::to_json(report.settings.recipe))},
      {"km_per_unit", report.km_per_unit},
      {"days_per_unit", report.days_per_unit},
      {"grid_points", scores.points},
      {"rmse", scores.rmse},
      {"crps", number(scores.crps)},
      {"nll", number(scores.nll)},
      {"coverage90", number(scores.coverage90)},
      {"held_out_rmse", scores.held_out_rmse},
      {"simulate_s", report.simulate_s},
      {"train_s", report.train_s},
      {"predict_s", report.predict_s},
      {"peak_rss_mb", report.peak_rss_mib},
      {"model", (options.out / "model.safetensors").string()},
      {"field", (options.out / "field.csv").string()},
      {"map", (options.out / "map.png").string()},
  };
  return json.dump(2);
}

std::string report_text(const DemoOptions& options, const DemoReport& report) {
  const DemoScores& scores = report.scores;
  const double read =
      static_cast<double>(report.training) * report.settings.recipe.epochs * static_cast<double>(report.settings.members);
  std::string text =
      fmt::format("Trained in {:.1f} s ({} observations/s), predicted {} points of a 25 km grid in {:.1f} s.\n\n", report.train_s,
                  grouped(read / report.train_s), grouped(static_cast<double>(scores.points)), report.predict_s);
  text += "Against the truth that the observations were made from (whose standard deviation is 1):\n";
  text += fmt::format("  RMSE {:8.3f}   the mean field is typically off by {:.0f} % of the truth's own variation\n", scores.rmse,
                      100.0 * scores.rmse);
  if (scores.crps) {
    text += fmt::format("  CRPS {:8.3f}   the same for the whole forecast, its spread included\n", *scores.crps);
    text += fmt::format("  NLL  {:8.3f}   minus the logarithm of the probability density given to the truth\n", *scores.nll);
    text += fmt::format("  90 % intervals hold {:.1f} % of the truth: {}\n", 100.0 * *scores.coverage90,
                        spread_verdict(*scores.coverage90, report.settings.members));
  } else {
    text += "  (one network has no spread: with --members 2 or more the forecast carries its uncertainty)\n";
  }
  text +=
      fmt::format("Observations kept aside, noise of {:g} included: RMSE {:.3f}.\n\n", options.noise_sd, scores.held_out_rmse);
  for (const auto& [name, what] : {std::pair{"map.png", "observations, truth, mean and spread as maps"},
                                   {"field.csv", "the grid: position, truth, mean, standard deviation"},
                                   {"model.safetensors", "the trained networks"}}) {
    text += fmt::format("{:40} {}\n", (options.out / name).string(), what);
  }
  text.pop_back();
  return text;
}
