#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::string program_;
  std::stop_token stop_;
  std::filesystem::path folder_;
  std::vector<std::string> environment_;
};

// A program that runs as a child process in a folder of its own, never through a shell.
struct ChildProgram {
  std::string name;  // "GMT", in messages
  std::string path;
  std::vector<std::string> environment;
  std::filesystem::path folder;  // where it runs, and where its input and output lie
  std::stop_token stop = {};
};

// Runs it and waits; words: its own name and the arguments. Returns and throws as GmtSession::run.
std::string run_child(const ChildProgram& child, std::vector<std::string> words, std::span<const char> input = {});

// A new folder for this process's temporary files. Throws Error where none can be made; `user`: who needs it ("GMT").
std::filesystem::path make_private_folder(const std::string& user);

// The program's path, "" where no folder of the PATH has it.
std::string find_program(const std::string& name);

}  // namespace drift
