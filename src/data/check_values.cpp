#include "data/check_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "drift/error.h"
#include "drift/grouped.h"

namespace drift {
namespace {

constexpr double kNetcdfFill = 9.96920996838687e36;

// What programs write where there is no value.
constexpr std::array<double, 26> kFills = {-99.0,    99.99,    -99.99,   -999.0,      999.0,         999.9,        -999.9,
                                           -9999.0,  9999.0,   -9999.9,  -9999.99,    -99999.0,      99999.0,      -999999.0,
                                           999999.0, -32768.0, -32767.0, 32767.0,     -2147483648.0, 2147483647.0, 1e20,
                                           -1e20,    1e35,     -1e35,    kNetcdfFill, -kNetcdfFill};

// The one that a value is, in single precision or in few digits; 0: none.
double fill_of(double value) {
  constexpr double kLeast = 98.999;  // all are larger
  constexpr double kSingle = 1e-7, kFewDigits = 1e-4;
  if (std::abs(value) < kLeast) return 0.0;
  for (const double fill : kFills) {
    if (std::abs(value / fill - 1.0) < (std::abs(fill) == kNetcdfFill ? kFewDigits : kSingle)) return fill;
  }
  return 0.0;
}

using Counts = std::map<double, std::size_t>;  // how often each fill was found

// Widest step between neighbours of the values that are none.
double largest_gap(const std::vector<double>& values) {
  std::vector<double> others;
  std::copy_if(values.begin(), values.end(), std::back_inserter(others), [](double value) { return fill_of(value) == 0.0; });
  std::sort(others.begin(), others.end());
  double gap = 0.0;
  for (std::size_t i = 1; i < others.size(); ++i) gap = std::max(gap, others[i] - others[i - 1]);
  return gap;
}

// Whether a number that programs write for none stands for none here: it lies very far from [low, high] of the others; or less
// so, but it is repeated, as a measurement so far out hardly is.
bool stands_for_none(double fill, std::size_t count, const std::vector<double>& values, double low, double high) {
  constexpr double kVeryFar = 10.0, kFar = 0.5;  // widths of the others' range
  constexpr std::size_t kOften = 3;
  constexpr double kOftenShare = 0.005;
  const double distance = std::max(low - fill, fill - high);
  if (distance > kVeryFar * std::max(high - low, 1e-3 * std::max(std::abs(low), std::abs(high)))) return true;
  if (count < kOften || static_cast<double>(count) < kOftenShare * static_cast<double>(values.size())) return false;
  return distance > kFar * (high - low) || (distance > 0.0 && distance > largest_gap(values));
}

std::string counted(std::size_t count) { return grouped(static_cast<double>(count)); }

std::string fills_sentence(const Counts& fills, std::size_t values, const std::string& name, const Range& rest) {
  std::size_t all = 0;
  for (const auto& [fill, count] : fills) all += count;
  std::string text = fmt::format("{} of {} values of '{}' ", counted(all), counted(values), name);
  if (fills.size() == 1) {
    text += fmt::format("{} {:.10g}, which looks like a fill value", all == 1 ? "is" : "are", fills.begin()->first);
  } else {
    std::vector<std::string> each;
    for (const auto& [fill, count] : fills) each.push_back(fmt::format("{} are {:.10g}", counted(count), fill));
    text += fmt::format("look like fill values ({})", fmt::join(each, ", "));
  }
  return text + fmt::format("; --valid {:g}:{:g} leaves {} out.", rest.low, rest.high, all == 1 ? "it" : "them");
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
  double low = HUGE_VAL, high = -HUGE_VAL;
  Counts fills;
  for (const double value : values) {
    if (std::abs(value) > kLargest) {
      throw Error(
          fmt::format("'{}' has the value {:g}, which is too large to compute with; --valid LOW:HIGH leaves such values "
                      "out, or scale them to a suitable unit",
                      info.name, value));
    }
    if (const double fill = fill_of(value); fill != 0.0) {
      ++fills[fill];
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
  if (low > high) return;  // there are no others
  Range rest = {low, high};
  std::erase_if(fills, [&](const auto& found) {
    if (stands_for_none(found.first, found.second, values, low, high)) return false;
    rest = {std::min(rest.low, found.first), std::max(rest.high, found.first)};
    return true;
  });
  if (!fills.empty()) warnings.push_back(fills_sentence(fills, values.size(), info.name, rounded_out(rest.low, rest.high)));
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
