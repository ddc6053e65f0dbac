#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "drift/export.h"
#include "drift/network_spec.h"

namespace DRIFT_PUBLIC drift {

// One network: its fixed random features and its trained parameters, each in one flat array laid out by the network's plan
// (src/network/plan.h). Both are drawn from (seed, index) alone.
struct Member {
  std::uint32_t index = 0;        // the member's part of the random key
  std::vector<float> fixed;       // frequencies, phases, degrees, poles
  std::vector<float> parameters;  // bottlenecks, head, logarithms of hyperparameter multipliers
  // Variational weights (drift/uncertainty.h): log sd of each bottleneck's and the head's entries, whose means the parameters
  // then are; zero elsewhere. Empty: the weights are not variational.
  std::vector<float> log_sd = {};
};

// Networks of one spec, drawn from different keys and trained on the same observations.
struct Ensemble {
  NetworkSpec spec;
  std::uint64_t seed = 0;
  std::vector<Member> members;
};

// Draws `members` networks on `threads` threads (0: one per core). Same spec, seed and count, same weights.
Ensemble draw_ensemble(const NetworkSpec& spec, std::uint64_t seed, std::size_t members, int threads = 0);

// Free text that travels with a model: domain, settings, scores. Keys are the caller's.
using Metadata = std::map<std::string, std::string>;

struct Model {
  Ensemble ensemble;
  Metadata metadata;
};

// A safetensors file with all that prediction needs. Written to a temporary name, flushed and renamed: never half a file.
void save_model(const std::filesystem::path& path, const Ensemble& ensemble, const Metadata& metadata = {});

// Throws Error with one sentence when the file is missing, foreign, truncated, corrupt or from a newer version;
// every length is checked against the file's size before anything large is allocated.
Model load_model(const std::filesystem::path& path);

}  // namespace drift
