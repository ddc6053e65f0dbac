#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/scratch_folder.h"
#include "fitting/fitting_testing.h"

namespace drift {

inline RunSettings settings_with(std::vector<std::string> methods, const ScratchFolder& folder, std::size_t seeds = 2) {
  RunSettings settings = small_settings();
  settings.train.epochs = 5.0;
  settings.compare.methods = std::move(methods);
  settings.compare.seeds = seeds;
  settings.compare.folder = (folder / "results").string();
  settings.compare.grid = "bbox:-20,10,20,40:5";
  return settings;
}

}  // namespace drift
