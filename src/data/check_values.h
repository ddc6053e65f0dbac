#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drift/summary.h"
#include "drift/variable_info.h"

namespace drift {

// Values that stand for none, though nothing said so: -9999, 9.96921e+36 and their like, far outside of all others, or outside
// and repeated. Adds a sentence with the range of the others as a proposal. Throws Error where no statistics can be made of the
// values: their squares are not numbers, or nothing.
void check_values(const std::vector<double>& values, const VariableInfo& info, std::vector<std::string>& warnings);

// The tails of values in ascending order, where their standard deviation is far above what the quartiles would make it, with a
// range of few digits that leaves out what lies far beyond the bulk. None: the tails are ordinary.
std::optional<Summary::Tails> heavy_tails(const std::vector<double>& sorted, double sd);

// "[-2, 3.5]" made a little wider, to bounds of two digits.
Range rounded_out(double low, double high);

}  // namespace drift
