#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/file_part.h"
#include "data/labels.h"

namespace drift {

// What must be alike in all files that are read together.
struct FileFacts {
  std::filesystem::path path;
  std::string value;  // name of the variable
  std::string unit;   // of the values
  bool on_plane = false;
  std::string plane_unit;
  bool has_time = false, has_sigma = false, has_track = false, has_platform = false;
  bool calendar_time = false;
};

// Throws Error that quotes both files where they do not go together.
void check_alike(const FileFacts& first, const FileFacts& other);

// Puts the observations of files together, in the order in which they come.
class Gathering {
 public:
  explicit Gathering(const std::vector<std::filesystem::path>& files);

  // The part is given up. Throws Error.
  void add(FilePart&& part, const FileFacts& facts);

  std::size_t rows() const { return rows_; }
  const std::vector<Rejected>& rejected() const { return rejected_; }
  Observations finish() &&;

 private:
  void make_room(std::size_t more);
  void append(FilePart& part);

  std::vector<std::uintmax_t> bytes_;  // of each file
  std::size_t files_read_ = 0;
  FileFacts first_;
  Observations all_;
  Labels tracks_, platforms_;
  std::size_t rows_ = 0;
  std::vector<Rejected> rejected_;
};

}  // namespace drift
