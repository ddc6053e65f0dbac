#pragma once

#include <chrono>
#include <string>

// Progress of a long job, on stderr: one line that renews itself on a terminal, a plain line every ten seconds elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::string job);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `total`, and anything worth saying besides ("12,300 observations/s, loss 0.02"). Time left is worked out here.
  void update(double done, double total, const std::string& detail);

  double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string job_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// "0:07", "12:30", "3:05:00"
std::string clock_text(double seconds);

// Of an estimate: "about 12 s", "about 3.5 minutes"
std::string about_text(double seconds);
