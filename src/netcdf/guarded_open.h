#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

// One flipped byte can make HDF5 crash, or loop for ever, as it opens or reads a file, and damaged metadata netCDF's reader of
// Zarr stores. So files that are based on HDF5, and stores, are first opened and listed, with all their attributes, by a child
// process with a time limit; what is read afterwards has been seen to open.
//
// Children are forks: a library has no program of its own to start, and a fork takes a millisecond. In a process with threads a
// fork may use little: this one is made while no other thread of drift is inside netCDF or HDF5 (lock_netcdf), uses these, the
// allocator, which glibc keeps usable, and system calls alone, and ends by _exit without running anything of the parent's. A lock
// that a foreign thread held inside HDF5 at that moment would look like a file that hangs; a limit of 0 does without children.

inline constexpr double kOpenLimitS = 30.0;

// What a child does with a file; it throws what is wrong with it.
using Listing = std::function<void(const std::filesystem::path& file)>;

// Whether a file is tried by a child first: it is based on HDF5, or a Zarr store.
bool needs_guard(const std::filesystem::path& path);

// Lists all that a file holds, as `ncdump -h` does. Throws also for one that refers to other files (netcdf/hdf5_parts.h).
void list_contents(const std::filesystem::path& path);

struct Tried {
  // Of each file: what happened to it, as a message that begins with its path; empty: nothing bad, or the file needs no guard
  // (those have their own checks).
  std::vector<std::string> wrong;
  std::string warning;  // a sentence, where some went untried because no child could be had
};

// As many children side by side as the control has threads. Throws Stopped.
Tried try_to_open(std::span<const std::filesystem::path> files, double limit_s, const Control& control = {},
                  const Listing& listing = list_contents);

// Of one file: throws Error where it is bad, and where it cannot be tried.
void check_guarded(const std::filesystem::path& path, double limit_s, const Listing& listing, const Control& control = {});

// Opens a file that has been listed before.
NcReader open_guarded(const std::filesystem::path& path, double limit_s = kOpenLimitS, const Control& control = {});

}  // namespace drift
