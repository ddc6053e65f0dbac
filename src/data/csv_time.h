#pragma once

#include <vector>

#include "data/csv_header.h"
#include "data/csv_rows.h"

namespace drift {

enum class CsvTime { missing, number, date };

// The time of a row: a date (ISO 8601, or of the layout's date columns) in days since 1950-01-01, or a number, in days too where
// the layout has a unit for it. Throws CsvProblem.
CsvTime read_time(const CsvLayout& layout, const std::vector<CsvField>& fields, double& time);

}  // namespace drift
