#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

// All that the command prints goes through here: names and attributes of files reach a terminal as drift::printable shows them. A
// write that fails costs no work that is under way: it is remembered, and a failure in the end.
void put(std::FILE* stream, const std::string& text);

// Flushes standard output. The system's number of the first error since the program began; 0: all was written.
int output_error();

template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  put(stdout, fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
void print(std::FILE* stream, fmt::format_string<Values...> format, Values&&... values) {
  put(stream, fmt::format(format, std::forward<Values>(values)...));
}

// Indented, and a line of its own.
void print_json(const nlohmann::ordered_json& json);

// JSON that is text already: what `put` would show as \x7f is escaped as JSON has it.
void print_json_text(const std::string& text);
