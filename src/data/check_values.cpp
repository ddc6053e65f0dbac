#include "data/check_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "drift/error.h"
#include "drift/grouped.h"

namespace drift {
namespace {

// What programs write where there is no value.
constexpr std::array<double, 19> kFills = {-9999.0, -999.0,  -99.0,    -99999.0, -999999.0,   -9999.9, 9999.0,
                                           999.0,   99999.0, 999999.0, -32768.0, -32767.0,    32767.0, -2147483648.0,
                                           1e20,    -1e20,   1e35,     -1e35,    2147483647.0};
constexpr double kNetcdfFill = 9.96920996838687e36;

bool is_fill(double value) {
  constexpr double kLeast = 99.0;  // of all of them
  const double size = std::abs(value);
  if (size < kLeast) return false;
  const bool of_netcdf = std::abs(size / kNetcdfFill - 1.0) < 1e-4;  // however many digits of it were written
  return of_netcdf || std::find(kFills.begin(), kFills.end(), value) != kFills.end();
}

// Whether [low, high] of the values but these is far away from them: further than ten times as wide as it is.
bool is_far(double fill, double low, double high) {
  const double width = std::max(high - low, 1e-3 * std::max(std::abs(low), std::abs(high)));
  return fill < low - 10.0 * width || fill > high + 10.0 * width;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

Range rounded_out(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(size > 0.0)) return {-1.0, 1.0};
  const double unit = std::pow(10.0, std::floor(std::log10(size)) - 1.0);
  return {std::floor(low / unit) * unit, std::ceil(high / unit) * unit};
}

void check_values(const std::vector<double>& values, const VariableInfo& info, std::vector<std::string>& warnings) {
  constexpr double kLargest = 1e100, kLeastSpread = 1e-100;  // the square of one is far from what a double cannot hold
  double low = HUGE_VAL, high = -HUGE_VAL, fill = 0.0;
  std::size_t fills = 0;
  for (const double value : values) {
    if (std::abs(value) > kLargest) {
      throw Error(
          fmt::format("'{}' has the value {:g}, which is too large to compute with; --valid LOW:HIGH leaves such values "
                      "out, or scale them to a suitable unit",
                      info.name, value));
    }
    if (is_fill(value)) {
      fill = value;
      ++fills;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double spread = high - low;
  if (spread > 0.0 && spread < kLeastSpread) {
    throw Error(
        fmt::format("the values of '{}' lie between {:g} and {:g}, too close together to compute with; scale them to a "
                    "suitable unit",
                    info.name, low, high));
  }
  if (fills == 0 || fills == values.size() || !is_far(fill, low, high)) return;
  const Range rest = rounded_out(low, high);
  warnings.push_back(
      fmt::format("{} of {} values of '{}' {} {:.10g}, which looks like a fill value; --valid {:g}:{:g} leaves {} out.",
                  grouped(static_cast<double>(fills)), grouped(static_cast<double>(values.size())), info.name,
                  fills == 1 ? "is" : "are", fill, rest.low, rest.high, fills == 1 ? "it" : "them"));
}

std::optional<Summary::Tails> heavy_tails(const std::vector<double>& sorted, double sd) {
  constexpr double kFarAbove = 3.0;    // times what a Gaussian of these quartiles would have
  constexpr double kGaussian = 1.349;  // interquartile range of a Gaussian, in standard deviations
  constexpr double kReach = 8.0;       // robust standard deviations that the proposal keeps
  const double q1 = quantile(sorted, 0.25), q3 = quantile(sorted, 0.75), robust = (q3 - q1) / kGaussian;
  if (!(robust > 0.0) || sd < kFarAbove * robust) return std::nullopt;
  const Range valid = rounded_out(q1 - kReach * robust, q3 + kReach * robust);
  const auto inside =
      std::upper_bound(sorted.begin(), sorted.end(), valid.high) - std::lower_bound(sorted.begin(), sorted.end(), valid.low);
  const std::size_t beyond = sorted.size() - static_cast<std::size_t>(inside);
  if (beyond == 0) return std::nullopt;
  return Summary::Tails{valid, beyond, robust};
}

}  // namespace drift
