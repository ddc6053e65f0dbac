#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

// One flipped byte can make HDF5 crash, or loop for ever, as it opens a file. So files that are based on it are first opened and
// listed, with all their attributes, by a child process with a time limit; what is read afterwards has been seen to open.
//
// Children are forks: a library has no program of its own to start, and a fork takes a millisecond. In a process with threads a
// fork may use little: this one is made while no other thread of drift is inside netCDF or HDF5 (lock_netcdf), uses these, the
// allocator, which glibc keeps usable, and system calls alone, and ends by _exit without running anything of the parent's. A lock
// that a foreign thread held inside HDF5 at that moment would look like a file that hangs; a limit of 0 does without children.

inline constexpr double kOpenLimitS = 30.0;

// What happened to each file, as a message that begins with its path; empty: nothing bad, or the file is not based on HDF5 (those
// have their own checks). As many children side by side as the control has threads. Throws Stopped.
std::vector<std::string> try_to_open(std::span<const std::filesystem::path> files, double limit_s, const Control& control = {});

// Whether the file begins as those based on HDF5 do.
bool is_hdf5(const std::filesystem::path& path);

// Opens a file that has been tried before: a bad one is an Error.
NcReader open_guarded(const std::filesystem::path& path, double limit_s = kOpenLimitS, const Control& control = {});

}  // namespace drift
