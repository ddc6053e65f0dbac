#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Kind and contents of an intact file: all of it was read, and every length, range and checksum held.
struct VerifiedFile {
  std::string kind;                                        // "model", "checkpoint", "study", "map", "observations", "run file"
  bool has_checksums = false;                              // its numbers have some, so that a flipped bit is noticed
  std::vector<std::pair<std::string, std::string>> facts;  // name and text, for people
};

// Tells the kind by what is in the file, not by its name, and reads all of it, in blocks. Throws Error, beginning with the path,
// for a file that is damaged or none of drift's.
VerifiedFile verify_file(const std::filesystem::path& path, const Control& control = {});

}  // namespace drift
