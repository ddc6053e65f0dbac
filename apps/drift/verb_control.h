#pragma once

#include <memory>
#include <string>

#include "drift/control.h"
#include "interrupt.h"
#include "progress.h"

// What long verbs share: ctrl-C asks for a stop, progress is a line on stderr, sentences go to stdout.
class VerbControl {
 public:
  // talks: prints sentences; shows_progress: of the jobs that follow
  VerbControl(bool talks, bool shows_progress) : talks_(talks), shows_progress_(shows_progress) {}

  // For a job that has a line of its own; the last job's line ends here.
  drift::Control job(const std::string& name);
  // For one that has none.
  drift::Control quiet_job() const { return {.stop = interrupt_.token()}; }
  // Ends the line; returns the seconds since it began.
  double end_job();

  void say(const std::string& text) const;

 private:
  bool talks_, shows_progress_;
  Interrupt interrupt_;
  std::unique_ptr<ProgressLine> line_;
};
