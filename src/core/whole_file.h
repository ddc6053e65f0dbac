#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace drift {

// Files that other programs left or are to read, such as those of a temporary folder. Every failure, also of a single call,
// throws Error with the path and the system's reason: nothing is taken for a shorter file.

// Hands over the bytes of a file in order, in blocks of some megabytes.
void read_blocks(const std::filesystem::path& path, const std::function<void(std::span<const std::byte>)>& take);
std::string read_whole_file(const std::filesystem::path& path);

// A file of a user's that is small if it is what it should be, "a run file": a regular file or a pipe, of at most so many bytes.
// Anything else, such as a device without end, throws Error, which begins with the path.
std::string read_bounded_file(const std::filesystem::path& path, const char* what, std::size_t most_bytes);

// Makes a file or replaces what is in it, without the care of AtomicFile.
void write_whole_file(const std::filesystem::path& path, std::span<const char> bytes);
// The same at a place in an open file.
void write_at(int file, const std::filesystem::path& path, std::span<const std::byte> bytes, std::size_t place);

}  // namespace drift
