#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

// Checks of numbers on the command line that say what is wrong in one sentence and leave the help's columns alone.

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator positive_number();      // finite, more than zero
CLI::Validator non_negative_number();  // finite, zero or more
