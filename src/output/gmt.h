#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "drift/control.h"

namespace drift {

// The Generic Mapping Tools, version 6 (Wessel et al. 2019, doi:10.1029/2019GC008515), as a child process, never through a shell.
// A session has a folder of its own, where GMT keeps its state and finds its settings: neither the user's gmt.conf nor another
// session disturbs it. Nothing is fetched from the network. The folder goes with the session.
class GmtSession {
 public:
  // Throws Error at once where GMT is not on the PATH; `purpose` begins the sentence: "drift plot draws".
  explicit GmtSession(const std::string& purpose, const Control& control = {});
  ~GmtSession();
  GmtSession(const GmtSession&) = delete;
  GmtSession& operator=(const GmtSession&) = delete;

  // Runs `gmt <arguments>` in the session's folder and waits for it. Returns what it wrote to stdout. Throws Error with the first
  // error in GMT's own words when it fails, Stopped when a stop is asked for, which ends GMT at once.
  std::string run(const std::vector<std::string>& arguments, std::span<const char> input = {}) const;

  // Another program in the same folder, which find_program has found: "pdftocairo".
  void run_other(const std::string& name, const std::vector<std::string>& arguments) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::string program_;
  std::stop_token stop_;
  std::filesystem::path folder_;
  std::vector<std::string> environment_;
};

}  // namespace drift
