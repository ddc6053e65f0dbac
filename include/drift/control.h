#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "drift/error.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Thrown by long work after a stop request. The message says what was saved, if anything, and how to resume.
class Stopped : public Error {
 public:
  using Error::Error;
};

// The caller's means of following and stopping long work, one type for reading, planning, fitting, searching, comparing,
// predicting, simulating and plotting. All members may stay empty. Stopping takes a second at most and leaves no half-written
// file.
struct Control {
  std::function<void(double share, const std::string& what)> progress = {};  // 0 to 1; never from two threads at once
  std::function<void(const std::string& sentence)> say = {};                 // messages worth reading along the way
  std::function<void(const std::string& sentence)> warning = {};  // something went wrong, but work goes on; empty: to `say`
  std::stop_token stop = {};
  // Checkpoint of a fit: written periodically and when stopped; the same fit resumes from it. Empty: none.
  std::filesystem::path checkpoint = {};
  bool fresh = false;  // start afresh and ignore the checkpoint (or a comparison's folder)
  int threads = 0;     // 0: as in the settings or options, one per core by default

  void report(double share, const std::string& what) const {
    if (progress) progress(share, what);
  }
  void tell(const std::string& sentence) const {
    if (say) say(sentence);
  }
  void warn(const std::string& sentence) const {
    if (warning)
      warning(sentence);
    else
      tell("warning: " + sentence);
  }
  // Throws Stopped after a stop request.
  void check_stop(const char* what_was_kept = "stopped") const {
    if (stop.stop_requested()) throw Stopped(what_was_kept);
  }
  // The same control for a part of the work that takes it from share `from` to share `to`.
  Control part(double from, double to) const {
    Control part = *this;
    if (progress) {
      part.progress = [whole = progress, from, to](double share, const std::string& what) {
        whole(from + (to - from) * share, what);
      };
    }
    return part;
  }
};

}  // namespace drift
