#include "small_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "drift/calendar.h"
#include "drift/simulate.h"
#include "drift/track_file.h"
#include "drift/version.h"

namespace {

void make_tracks(const std::filesystem::path& path) {
  drift::SimulateOptions options;
  drift::parse_iso_time("2020-03-01", options.start_days);
  options.days = 6.0;
  options.south_deg = 20.0;
  options.north_deg = 60.0;
  options.rate_hz = 0.05;
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

// The library, the command and this program, of which the run is made: another build, another run.
std::string builds() {
  const auto age = [](const char* path) { return std::filesystem::last_write_time(path).time_since_epoch().count(); };
  return fmt::format("{} {} {}", drift::build_id(), age(DRIFT_COMMAND), age("/proc/self/exe"));
}

// One process at a time looks at the kept run or makes it; the others wait.
class Turn {
 public:
  explicit Turn(const std::filesystem::path& path) : file_(open(path.c_str(), O_CREAT | O_RDWR, 0666)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw std::runtime_error("no lock at " + path.string());
  }
  ~Turn() { close(file_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_;
};

}  // namespace

// Every test is a process of its own, so the run is kept beside the tests' program and made once per build. Each process gets a
// copy.
const std::filesystem::path& small_run() {
  static const TemporaryFolder folder;
  static const bool made = [] {
    const std::filesystem::path kept = DRIFT_SMALL_RUN;
    const Turn turn(kept.string() + ".lock");
    if (read_file(kept / "builds") != builds()) {
      std::filesystem::remove_all(kept);
      std::filesystem::create_directories(kept);
      make_run(kept);
      std::ofstream(kept / "builds") << builds();  // last: a run that was not finished is made again
    }
    std::filesystem::copy(kept, folder.path(), std::filesystem::copy_options::recursive);
    std::filesystem::remove(folder.path() / "builds");
    return true;
  }();
  (void)made;
  return folder.path();
}
