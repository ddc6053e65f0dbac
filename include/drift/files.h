#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

struct RunSettings;

// A file of a run, and what it is to it: "the model", "the observations".
struct NamedPath {
  std::string what;
  std::filesystem::path path;
};
using NamedPaths = std::vector<NamedPath>;

// Throws UsageError where a run would write over a file that it reads, or two things into one file. Files are compared by device
// and inode, so another name, a symbolic link or a hard link makes no difference. Inputs that are not there, and empty paths, are
// passed over.
void check_distinct(const NamedPaths& inputs, const NamedPaths& outputs);

// The same, and throws Error where an output cannot be written: its folder is missing or read-only, or it is no regular file. To
// be called before anything is read.
void check_outputs(const NamedPaths& inputs, const NamedPaths& outputs);

// Existing files that paths and globs name.
NamedPaths named_files(const std::string& what, const std::vector<std::string>& patterns);
// A file that a text may name: "file:PATH", "PATH" or "PATH:VARIABLE", as grids and truths are given; empty if it names none.
NamedPaths named_file(const std::string& what, const std::string& text);

// Files that a run with these settings reads, and those that fitting it writes.
NamedPaths run_inputs(const RunSettings& settings);
NamedPaths run_outputs(const RunSettings& settings);

// Writes a text; the file appears whole or not at all. Throws Error with the path.
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace drift
