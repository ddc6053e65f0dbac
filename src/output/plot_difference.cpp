// One map less another on the same grid.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/calendar.h"
#include "drift/error.h"
#include "output/plot_source.h"

namespace drift {
namespace {

constexpr double kSameShareOfCell = 1e-3;  // centres kept as float32 differ by less

bool same_axis(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  const double step = (a.back() - a.front()) / static_cast<double>(a.size() - 1);
  return std::equal(a.begin(), a.end(), b.begin(),
                    [&](double p, double q) { return std::abs(p - q) <= kSameShareOfCell * step; });
}

// A degree's ten-thousandth is 11 m; missing positions are alike.
bool same_positions(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double p, double q) { return std::abs(p - q) < 1e-4 || (std::isnan(p) && std::isnan(q)); });
}

std::string grid_words(const PlotSource& s) {
  return fmt::format("{} by {} cells from {:g}, {:g} to {:g}, {:g}", s.x.size(), s.y.size(), s.x.front(), s.y.front(), s.x.back(),
                     s.y.back());
}

}  // namespace

void check_same_grid(const PlotSource& a, const PlotSource& b, const std::filesystem::path& file_a,
                     const std::filesystem::path& file_b) {
  const bool same = a.space == b.space && same_axis(a.x, b.x) && same_axis(a.y, b.y) && same_positions(a.lon, b.lon) &&
                    same_positions(a.lat, b.lat);
  if (!same) {
    throw Error(fmt::format("{} and {} have different grids: {}, and {}", file_a.string(), file_b.string(), grid_words(a),
                            grid_words(b)));
  }
}

PlotSource difference_of(PlotSource a, const PlotSource& b, const std::filesystem::path& file_a,
                         const std::filesystem::path& file_b) {
  check_same_grid(a, b, file_a, file_b);
  if (a.info.unit != b.info.unit) {
    throw Error(fmt::format("{}: '{}' is in '{}', but '{}' of {} in '{}'", file_a.string(), a.info.name, a.info.unit, b.info.name,
                            file_b.string(), b.info.unit));
  }
  for (std::size_t i = 0; i < a.mean.size(); ++i) a.mean[i] -= b.mean[i];
  const auto name = [&](const PlotSource& source, const std::filesystem::path& file) {
    return a.time == b.time ? file.filename().string() : fmt::format("{} ({})", file.filename().string(), source.time);
  };
  a.info.standard_name.clear();  // a difference has none, and its long name makes its colours diverge
  a.info.long_name = "Difference of " + a.info.name;
  a.title = fmt::format("{}: {} minus {}", a.info.name, name(a, file_a), name(b, file_b));
  if (a.time != b.time) a.time.clear();
  return a;
}

PlotSource read_other_source(const std::filesystem::path& other, const PlotSource& source, const PlotOptions& options) {
  PlotOptions wanted = options;
  wanted.time = "all";
  wanted.arrows = false;
  const bool several = times_asked_for(other, wanted).size() > 1;
  if (several && source.time.empty())
    throw UsageError(fmt::format("{} has several times, the map it is subtracted from none", other.string()));
  wanted.time = !several ? "" : std::isfinite(source.time_days) ? iso_time(source.time_days) : options.time;
  return read_plot_source(other, wanted);
}

}  // namespace drift
