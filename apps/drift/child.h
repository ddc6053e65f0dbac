#pragma once

#include <stop_token>
#include <string>
#include <vector>

// Another run of this same program: with memory, processor time and crashes of its own. Its stderr is this program's.
struct ChildResult {
  bool stopped = false;  // stop was asked for, and the child ended
  int status = 0;        // exit status
  int signal = 0;        // that ended it; 0: none
  std::string out;       // what it wrote to stdout
};
ChildResult run_child(const std::vector<std::string>& arguments, const std::stop_token& stop);

// For a child: ends it when the program that started it is no more.
void end_with_parent();
