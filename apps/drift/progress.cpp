#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

ProgressLine::ProgressLine(std::string job) : job_(std::move(job)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && shown_) fmt::print(stderr, "\r\033[K");  // the job's own report takes the line's place
  std::fflush(stderr);
}

double ProgressLine::elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void ProgressLine::update(double done, double total, const std::string& detail) {
  const Clock::time_point now = Clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10)) || done <= 0.0) return;
  last_ = now;
  shown_ = true;
  const double left_s = elapsed_s() * (total - done) / done;
  const std::string text = fmt::format("{}: {:.0f} %, {}, {} left", job_, 100.0 * done / total, detail, clock_text(left_s));
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", text, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string about_text(double seconds) {
  return seconds < 90.0 ? fmt::format("about {:.2g} s", std::max(1.0, seconds))
                        : fmt::format("about {:.2g} minutes", seconds / 60.0);
}
