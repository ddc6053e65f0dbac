#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "comparing/compare_parts.h"
#include "drift/bench.h"

namespace drift {
namespace {

double wall_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double core_now() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Stopwatch::Stopwatch() : wall_(wall_now()), core_(core_now()) {}
double Stopwatch::wall_s() const { return wall_now() - wall_; }
double Stopwatch::core_s() const { return core_now() - core_; }

void forget_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

double peak_memory_mib() {
  // Not getrusage: its peak outlives the start of another program, and would be that of the process that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    double kib = 0.0;
    std::istringstream(line.substr(6)) >> kib;
    if (kib > 0.0) return kib / 1024.0;
  }
  return peak_rss_mib();
}

}  // namespace drift
