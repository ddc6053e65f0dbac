#pragma once

#include <string>

// "drift predict model.safetensors --mask 'data:25 km'": a command line as a shell would take it again, for the history of files.
std::string command_line(int argc, const char* const* argv);
