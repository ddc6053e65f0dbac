#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace drift {

// Bytes of memory that this process may use at most: those of the machine, or fewer where a control group (a container, a batch
// job) has a limit.
double memory_limit_bytes();

// The least limit of a process's control group and those around it; none: there is no limit. `groups`: the text of
// /proc/self/cgroup; `root`: where their files are, /sys/fs/cgroup. Versions 1 and 2.
std::optional<double> group_memory_limit(const std::filesystem::path& root, const std::string& groups);

}  // namespace drift
