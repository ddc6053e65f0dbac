#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "drift/export.h"
#include "drift/field_sink.h"

namespace DRIFT_PUBLIC drift {

// A field as its NetCDF file describes it (CF-1.8, ACDD-1.3), without the file: for programs that hand fields on in memory.

struct FieldAttribute {
  std::string name;
  std::string text = {};             // or
  std::vector<double> numbers = {};  // if there are any
};

struct CfVariable {
  std::string name;
  std::vector<std::string> dimensions = {};
  std::vector<FieldAttribute> attributes = {};
  bool whole_numbers = false;
  std::vector<double> numbers = {};  // row-major, NaN where missing; of layers and grid mappings none
};

struct CfField {
  std::vector<std::pair<std::string, std::size_t>> dimensions = {};  // names and lengths
  std::vector<CfVariable> variables = {};                            // in the file's order, layers among them
  std::vector<FieldAttribute> attributes = {};                       // of the whole
};

// Everything a file of this header holds but the layers' numbers, fill values and actual ranges. Throws UsageError if no
// file could be written.
CfField cf_field(const FieldHeader& header);

}  // namespace drift
