#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drift/files.h"
#include "drift/read_observations.h"
#include "drift/run_settings.h"

// The settings of a run as flags, made from the library's own list, so that file and flags never differ.
class RunOptions {
 public:
  // Adds a flag for each setting that the verb takes, by its name.
  explicit RunOptions(CLI::App& verb);

  // The settings of a verb whose arguments are one run file (.toml) or files of observations, flags included.
  drift::RunSettings settings(const std::vector<std::string>& inputs) const;

  // Sets what was given on the command line.
  void apply(drift::RunSettings& settings) const;

 private:
  struct Given;
  std::vector<std::shared_ptr<Given>> given_;
};

// True if the arguments are one run file.
bool is_run_file(const std::vector<std::string>& inputs);

// " (m)", between these brackets; empty if there is no unit, or the name ends with it.
std::string unit_text(const std::string& name, const std::string& unit, const char* open, const char* close);
// Conditions of the product's quality control and the observations they left out, in one line; empty: none.
std::string quality_text(const drift::ReadReport& report);

// All files that a run with these arguments and settings reads.
drift::NamedPaths input_paths(const std::vector<std::string>& inputs, const drift::RunSettings& settings);

// Counts of the observations read and left out.
std::string reading_text(const drift::Reading& reading);
