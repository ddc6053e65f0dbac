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
  // Adds a flag for each setting of these tables ("" holds seed and threads), or that is named itself ("--threads").
  RunOptions(CLI::App& verb, const std::vector<std::string>& tables);

  // The settings of a verb whose arguments are one run file (.toml) or files of observations, flags included.
  drift::RunSettings settings(const std::vector<std::string>& inputs) const;

  // Sets what was given on the command line.
  void apply(drift::RunSettings& settings) const;

 private:
  struct Given;
  std::vector<std::shared_ptr<Given>> given_;
};

// Whether the arguments are a run file.
bool is_run_file(const std::vector<std::string>& inputs);

// What the product's quality control asked for and left out, in one line; empty: nothing.
std::string quality_text(const drift::ReadReport& report);

// All files that a run with these arguments and settings reads.
drift::NamedPaths input_paths(const std::vector<std::string>& inputs, const drift::RunSettings& settings);

// What a reading has to say to everybody: counts, rejected, warnings.
std::string reading_text(const drift::Reading& reading);
