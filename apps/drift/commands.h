#pragma once

#include <CLI/CLI.hpp>

// One function a verb: adds the verb, its options and what it does to the command line.

void add_demo(CLI::App& app);
void add_bench(CLI::App& app);
