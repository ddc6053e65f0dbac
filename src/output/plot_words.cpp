#include "output/plot_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "drift/calendar.h"
#include "output/plot_text.h"

namespace drift {
namespace {

constexpr std::size_t kLongName = 48;  // letters

std::string shown_name(const VariableInfo& info) {
  std::string name = info.long_name.empty() ? info.standard_name.empty() ? info.name : info.standard_name : info.long_name;
  if (name == info.standard_name) std::replace(name.begin(), name.end(), '_', ' ');
  if (name.size() > 1 && name != info.name) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return gmt_text(name);
}

}  // namespace

std::string with_unit(const std::string& name, const std::string& unit) {
  const std::string shown = gmt_unit(unit);
  return shown.empty() ? name : fmt::format("{} [{}]", name, shown);
}

// A name that is a sentence stands in the title; beside the colours the variable's own is enough.
std::string bar_label(const VariableInfo& info) {
  const std::string name = shown_name(info);
  return with_unit(name.size() > kLongName ? gmt_text(info.name) : name, info.unit);
}

std::string shown_time(std::string time) {
  double days = 0.0;
  if (time.size() != 20 || !parse_iso_time(time, days)) return gmt_text(time);
  time[10] = ' ';
  const std::size_t length = time.substr(16, 3) == ":00" ? 16 : 19;
  return fmt::format("{} UTC", time.substr(0, length));
}

std::string figure_title(const PlotSource& source, const std::string& title, bool sd_alone) {
  if (!title.empty()) return gmt_text(title);
  const std::string name =
      (source.title.empty() ? shown_name(source.info) : gmt_text(source.title)) + (sd_alone ? ": standard deviation" : "");
  return source.time.empty() ? name : name + ", " + shown_time(source.time);
}

}  // namespace drift
