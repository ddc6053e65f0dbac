#include "small_run.h"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "drift/calendar.h"
#include "drift/simulate.h"
#include "drift/track_file.h"
#include "kept_run.h"

namespace {

void make_tracks(const std::filesystem::path& path) {
  drift::SimulateOptions options;
  drift::parse_iso_time("2020-03-01", options.start_days);
  options.days = 6.0;
  options.south_deg = 20.0;
  options.north_deg = 60.0;
  options.rate_hz = 0.025;
  const drift::Observations all = drift::simulate(
      [](auto points, auto, auto values) {
        for (std::size_t i = 0; i < points.size(); ++i) {
          const drift::Position at = drift::position_of(points[i]);
          values[i] = 0.5 * std::sin(at.lon_deg / 9.0) + 0.3 * std::cos(at.lat_deg / 4.0);
        }
      },
      options);
  drift::Observations kept;
  kept.platform_names = all.platform_names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.lon_deg[i] < -60.0 || all.lon_deg[i] > 0.0) continue;
    kept.lon_deg.push_back(all.lon_deg[i]);
    kept.lat_deg.push_back(all.lat_deg[i]);
    kept.time_days.push_back(all.time_days[i]);
    kept.value.push_back(all.value[i]);
    kept.track.push_back(all.track[i]);
    kept.platform.push_back(all.platform[i]);
  }
  drift::write_track_file(path, kept, {"ssh", "Sea surface height", "sea_surface_height_above_geoid", "m"});
}

void must(const FinishedRun& run) {
  if (run.status != 0) throw std::runtime_error("a first step failed: " + run.err);
}

void make_run(const std::filesystem::path& folder) {
  make_tracks(folder / "tracks.nc");
  std::ofstream(folder / "points.csv") << "name,lon,lat,time\nA,-30,40,2020-03-03\nB,-31.5,41,2020-03-03T12:00:00Z\n"
                                          "\"C, with a comma\",-20,30,2020-03-04\nD,,30,2020-03-04\nE,-45,55,2020-03-05\n";
  must(run_shell(folder, std::string("drift fit tracks.nc --value ssh --out model.safetensors --quiet ") + kSmallNetworks));
  must(run_shell(folder, "drift predict model.safetensors --out map.nc --quiet"));
}

}  // namespace

const std::filesystem::path& small_run() {
  static const KeptRun run("small-run", make_run);
  return run.path();
}
