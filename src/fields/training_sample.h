#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drift/domain.h"
#include "drift/observations.h"

namespace drift {

// A sample of the observations that trained a model: the smallest 64-bit hashes of position, time and value, ascending
// (Bar-Yossef et al. 2002). Of the observations whose hashes are no larger than the largest kept, it tells exactly which ones
// trained.
inline constexpr std::size_t kTrainingSample = 4096;  // 32 KiB; the share of a million observations is known to 2 %
std::vector<std::uint64_t> training_sample(const Observations& observations, const Rows& rows = {});

// The share of these observations that trained the model with that sample. None: the model has no sample, as those of earlier
// versions, or too few observations fall among its hashes.
std::optional<double> share_that_trained(const std::vector<std::uint64_t>& sample, const Observations& observations);

// As text, for a model file; reading throws Error.
std::string sample_text(const std::vector<std::uint64_t>& sample);
std::vector<std::uint64_t> sample_from_text(const std::string& text);

}  // namespace drift
