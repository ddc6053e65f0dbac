#include "verb_control.h"

#include <fmt/format.h>

#include <cstdio>

#include "print.h"

drift::Control VerbControl::job(const std::string& name) {
  drift::Control control = quiet_job();
  line_ = shows_progress_ ? std::make_unique<ProgressLine>(name) : nullptr;
  control.progress = [this](double share, const std::string& what) {
    if (line_) line_->update(share, 1.0, what);
  };
  control.say = [this](const std::string& text) { say(text); };
  return control;
}

double VerbControl::end_job() {
  const double seconds = line_ ? line_->elapsed_s() : 0.0;
  line_.reset();
  return seconds;
}

void VerbControl::say(const std::string& text) const {
  if (!talks_) return;
  print("{}\n", text);
  output_error();
}

void VerbControl::warn(const std::string& text) const { print(stderr, "drift: warning: {}\n", text); }

CLI::Option* add_quiet(CLI::App& verb, bool& quiet, const std::string& result) {
  return verb.add_flag("--quiet", quiet, fmt::format("Print {}errors and warnings only", result))->group("Run");
}
