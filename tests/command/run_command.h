#pragma once

#include <filesystem>
#include <string>

// A finished run of the command.
struct FinishedRun {
  int status;  // exit status, or -1 when it was ended by a signal
  std::string out;
  std::string err;
};

// Runs `drift <arguments>` (as a shell would read them) in an empty folder and waits for it.
FinishedRun run_command(const std::string& arguments);

// Runs a line of bash in a folder, where `drift` is the command.
FinishedRun run_shell(const std::filesystem::path& folder, const std::string& line);

// Python with xarray to open what drift wrote; empty where there is none.
std::string python_with_xarray();

// A folder of this test's own that goes away with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);  // empty when there is none

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
