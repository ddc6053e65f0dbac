#include "command/settings_table.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

// settings_table PAGE: brings the page's table up to date.
int main(int argc, char** argv) {
  try {
    if (argc != 2) throw drift::UsageError("usage: settings_table PAGE");
    std::ifstream in(argv[1], std::ios::binary);
    const std::string page = with_settings_table({std::istreambuf_iterator<char>(in), {}});
    in.close();
    std::ofstream(argv[1], std::ios::binary) << page;
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "settings_table: %s\n", error.what());
    return 1;
  }
}
