#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drift/enum_words.h"

// Checks of numbers and words on the command line that say what is wrong in one sentence and leave the help's columns alone.

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator positive_number();      // finite, more than zero
CLI::Validator non_negative_number();  // finite, zero or more
CLI::Validator one_of(std::vector<std::string_view> words);
CLI::Validator one_of_numbers(std::vector<double> numbers);

template <drift::EnumWithWords E>
CLI::Validator one_of_words() {
  return one_of(drift::words_of<E>());
}
