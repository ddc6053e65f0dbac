#pragma once

#include <filesystem>

// Throws Error unless a file can be written there: known at once, not after an hour of work. Nothing is left behind.
void check_output(const std::filesystem::path& path);
