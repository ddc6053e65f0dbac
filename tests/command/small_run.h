#pragma once

#include <filesystem>
#include <string>

#include "run_command.h"

// A folder in which the first steps are done, made once per build:
//   tracks.nc             some 2,000 observations of a made-up field of sea surface height over the North Atlantic
//   model.safetensors     small networks trained on them
//   map.nc                a map of theirs
//   points.csv            five places
const std::filesystem::path& small_run();

// Flags that make training take a second.
inline constexpr const char* kSmallNetworks = "--members 3 --layers 2 --features 64 --bottleneck 16 --epochs 20 --batch 128";
