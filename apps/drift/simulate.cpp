#include "commands.h"

void add_simulate(CLI::App&) {}
