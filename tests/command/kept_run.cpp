#include "kept_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "drift/version.h"

namespace {

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

KeptRun::KeptRun(const std::string& name, const std::function<void(const std::filesystem::path& folder)>& make) {
  const std::filesystem::path kept = std::filesystem::path(DRIFT_KEPT_RUNS) / name;
  std::filesystem::create_directories(kept.parent_path());
  const Turn turn(kept.string() + ".lock");
  if (read_file(kept / "builds") != builds()) {
    std::filesystem::remove_all(kept);
    std::filesystem::create_directories(kept);
    make(kept);
    std::ofstream(kept / "builds") << builds();  // last: a run that was not finished is made again
  }
  std::filesystem::copy(kept, path(), std::filesystem::copy_options::recursive);
  std::filesystem::remove(path() / "builds");
}
