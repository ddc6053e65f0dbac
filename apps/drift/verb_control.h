#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "drift/control.h"
#include "interrupt.h"
#include "progress.h"

// Shared by verbs: ctrl-C requests a stop, progress is a line on stderr, sentences go to stdout and warnings to stderr.
class VerbControl {
 public:
  // talks: prints sentences; shows_progress: of the jobs that follow
  VerbControl(bool talks, bool shows_progress) : talks_(talks), shows_progress_(shows_progress) {}

  // For a job that has a line of its own; the last job's line ends here.
  drift::Control job(const std::string& name);
  // For one that has none.
  drift::Control quiet_job() const {
    return {.warning = [this](const std::string& text) { warn(text); }, .stop = interrupt_.token()};
  }
  // Ends the line; returns the seconds since it began.
  double end_job();

  void say(const std::string& text) const;
  // Printed even if the verb is quiet or prints JSON.
  void warn(const std::string& text) const;

 private:
  bool talks_, shows_progress_;
  Interrupt interrupt_;
  std::unique_ptr<ProgressLine> line_;
};

// --quiet, which silences sentences and progress but no warning. `result`: what is printed all the same, "the scores, ".
CLI::Option* add_quiet(CLI::App& verb, bool& quiet, const std::string& result = "");
