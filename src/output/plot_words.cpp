#include "output/plot_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/plot.h"
#include "output/gmt.h"
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

// "2020-03-01T06:00:00Z" as "2020-03-01 06:00 UTC"; dates and plain numbers as they are.
std::string shown_time(std::string time) {
  double days = 0.0;
  if (time.size() != 20 || !parse_iso_time(time, days)) return gmt_text(time);
  time[10] = ' ';
  const std::size_t length = time.substr(16, 3) == ":00" ? 16 : 19;
  return fmt::format("{} UTC", time.substr(0, length));
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

std::string figure_title(const PlotSource& source, const std::string& title, bool sd_alone) {
  if (!title.empty()) return gmt_text(title);
  const std::string name = shown_name(source.info) + (sd_alone ? ": standard deviation" : "");
  return source.time.empty() ? name : name + ", " + shown_time(source.time);
}

std::string picture_format(const std::filesystem::path& picture) {
  std::string extension = picture.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension.empty() ? "" : extension.substr(1);
}

void check_ghostscript() {
  if (find_program("gs").empty()) {
    throw Error("GMT makes PNG and PDF files with Ghostscript, which is not installed: apt-get install ghostscript");
  }
}

void check_picture_name(const std::filesystem::path& picture) {
  const std::string format = picture_format(picture);
  if (format != "png" && format != "pdf") {
    throw UsageError(fmt::format("{}: a picture is .png or .pdf, not '{}'", picture.string(), picture.extension().string()));
  }
}

void publish_picture(const std::filesystem::path& drawn, const std::filesystem::path& picture) {
  std::ifstream file(drawn, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  write_text_file(picture, bytes);
}

}  // namespace drift
