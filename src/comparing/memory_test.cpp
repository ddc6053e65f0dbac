// What a fit holds at most, as the system counts it: matrices of double precision do not come from operator new.

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "core/scratch_folder.h"
#include "drift/compare.h"
#include "drift/error.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

// Resident now, MiB.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double all = 0.0, resident = 0.0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

// MiB that work() takes at most beyond what was there before, looked at every millisecond.
double peak_mib_of(const std::function<void()>& work) {
  malloc_trim(0);
  const double before = resident_mib();
  std::atomic<double> most = before;
  {
    const std::jthread watching([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        most = std::max(most.load(), resident_mib());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    work();
  }
  return most - before;
}

RunSettings settings_of(UncertaintyMethod method) {
  RunSettings settings = network_settings(1.0);
  settings.uncertainty.method = method;
  return settings;
}

TEST(ForeseenMemory, OfAFitIsNeverLessThanItTakes) {
  const Dataset data = small_dataset(60, 100);
  RunSettings last = settings_of(UncertaintyMethod::last_layer), drawn = settings_of(UncertaintyMethod::variational);
  last.model.features = 2000;
  last.model.layers = 1;
  last.model.members = 1;
  drawn.model.members = 4;
  drawn.model.layers = 4;
  drawn.model.features = 500;
  drawn.model.bottleneck = 64;
  drawn.uncertainty.draws = 50;
  RunSettings dropped = drawn;
  dropped.uncertainty.method = UncertaintyMethod::dropout;
  constexpr double kProgramMib = 40.0;  // of the program itself, which was there before
  for (const RunSettings& settings : {last, drawn, dropped}) {
    const FitPlan plan = plan_fit(settings, data);
    const double held = peak_mib_of([&] { fit(plan, data); });
    const std::string name(word_of(settings.uncertainty.method));
    EXPECT_GE(plan.memory_mib, held) << name;
    EXPECT_LT(plan.memory_mib - kProgramMib, 2.0 * held) << name;
  }
}

// As its rivals do, a fit that a comparison begins ends before it begins to swap.
TEST(ForeseenMemory, IsAskedForByDriftInAComparisonToo) {
  const Dataset data = small_dataset(40, 60);
  const ScratchFolder folder;
  RunSettings settings = small_settings();
  settings.compare.methods = {"drift:parts=network,members=1000"};
  settings.compare.seeds = 1;
  settings.compare.folder = (folder / "results").string();
  settings.compare.grid = "bbox:-20,10,20,40:5";
  settings.model.features = 100000;
  settings.model.bottleneck = 2000;
  settings.model.layers = 8;
  settings.fit.method = FitMethod::process;  // the run's own, which needs no networks
  const ComparePlan plan = plan_compare(settings, data);
  const ComparedFit fit = compare_fit(plan, data, plan.methods.front(), 1);
  EXPECT_NE(fit.failure.find("MiB but this process may use"), std::string::npos) << fit.failure;
}

TEST(ForeseenMemory, OfAGpuIsKnownWhereOneIsUsed) {
  const Dataset data = small_dataset();
  RunSettings settings = small_settings();
  settings.backend = Backend::cpu;
  EXPECT_FALSE(foresee_gpu_mib(plan_fit(settings, data)));
  settings.backend = Backend::automatic;
  const auto mib = foresee_gpu_mib(plan_fit(settings, data));
  EXPECT_EQ(mib.has_value(), why_no_cuda().empty());
  EXPECT_GE(mib.value_or(1.0), 1.0);
  settings.fit.method = FitMethod::process;
  EXPECT_FALSE(foresee_gpu_mib(plan_fit(settings, data)));
}

}  // namespace
}  // namespace drift
