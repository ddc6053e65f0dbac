#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace drift {

struct ChildProgram {
  std::string name;                      // in messages: "GMT"
  std::string path;                      // of find_program
  std::vector<std::string> environment;  // "NAME=value"
};

// Runs a program in a folder, never through a shell, and waits for it. Returns what it wrote to stdout; what it wrote to stderr
// is in the file "stderr" there. Throws Error with the first error in the program's own words when it fails, Stopped when a stop
// is asked for, which ends it and what it started at once.
std::string run_child(const ChildProgram& program, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                      const std::stop_token& stop, std::span<const char> input = {});

// A new folder for temporary files, whose owner removes it. Throws Error where none can be made; `user`: who needs it ("GMT").
std::filesystem::path make_private_folder(const std::string& user);

// The same, gone with its owner.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& user) : path_(make_private_folder(user)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs one of GDAL's programs, a path of find_program, whose temporary files go into the folder too.
void run_gdal(const std::string& program, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
              const std::stop_token& stop);

// The program's path, "" where no folder of the PATH has it.
std::string find_program(const std::string& name);

}  // namespace drift
