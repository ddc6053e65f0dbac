#pragma once

#include <CLI/CLI.hpp>
#include <string>

// One function a verb: adds the verb, its options and what it does to the command line. Verbs that write maps put the command
// line itself into their history.

void add_demo(CLI::App& app, const std::string& command_line);
void add_inspect(CLI::App& app);
void add_simulate(CLI::App& app);
void add_fit(CLI::App& app);
void add_tune(CLI::App& app);
void add_predict(CLI::App& app, const std::string& command_line);
void add_compare(CLI::App& app);
void add_score(CLI::App& app);
void add_plot(CLI::App& app);
void add_verify(CLI::App& app);
void add_bench(CLI::App& app);
void add_completion(CLI::App& app);
