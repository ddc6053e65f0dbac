#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "run_command.h"

// What several tests begin from. Every test is a process of its own, so it is kept beside the tests' program and made once per
// build, by whichever test is first; the others wait. Each process has a copy.
class KeptRun {
 public:
  KeptRun(const std::string& name, const std::function<void(const std::filesystem::path& folder)>& make);

  const std::filesystem::path& path() const { return copy_.path(); }

 private:
  TemporaryFolder copy_;
};
