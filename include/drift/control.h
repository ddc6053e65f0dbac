#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "drift/error.h"

namespace drift {

// Thrown by long work that was asked to stop. The message says what was kept, if anything was, and how to go on.
class Stopped : public Error {
 public:
  using Error::Error;
};

// How a caller follows long work and ends it: one type for reading, planning, fitting, searching, comparing, predicting,
// simulating and plotting. All members may stay empty. Stopping takes a second at most and leaves no half-written file.
struct Control {
  std::function<void(double share, const std::string& what)> progress = {};  // 0 to 1; never from two threads at once
  std::function<void(const std::string& sentence)> say = {};                 // sentences worth reading on the way
  std::stop_token stop = {};
  // A fit's checkpoint: written now and then, and when stopped; the same fit resumes from it. Empty: none.
  std::filesystem::path checkpoint = {};
  bool fresh = false;  // begin anew, whatever the checkpoint (or a comparison's folder) holds
  int threads = 0;     // 0: as the settings or options say, which is one per core by default

  void report(double share, const std::string& what) const {
    if (progress) progress(share, what);
  }
  void tell(const std::string& sentence) const {
    if (say) say(sentence);
  }
  // Throws Stopped if a stop was asked for.
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
