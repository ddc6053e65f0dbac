#pragma once
#include <cstdlib>
inline double knob(const char* n, double d) { const char* s = std::getenv(n); return s ? std::atof(s) : d; }
