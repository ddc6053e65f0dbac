#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"
#include "drift/grid.h"
#include "drift/read_observations.h"

namespace DRIFT_PUBLIC drift {

// A program's own arrays with dimensions and attributes, as xarray has them: a NetCDF file without the file.

struct ArrayAttribute {
  std::string text = {};             // or
  std::vector<double> numbers = {};  // where there are any
  bool whole_numbers = false;        // the type of limits: those of packed numbers are packed, real ones are not
};
using ArrayAttributes = std::map<std::string, ArrayAttribute>;  // by name

struct ArrayVariable {
  std::string name;
  std::vector<std::string> dimensions = {};
  std::string type = "float64";  // NumPy's word: int8 to int64, uint8 to uint64, float32, float64; str: text
  ArrayAttributes attributes = {};
  // Row-major, NaN where missing. Called for variables that play a role alone, perhaps on another thread, one call at a time.
  std::function<std::vector<double>()> numbers = {};
  std::function<std::vector<std::string>()> texts = {};  // of text
};

struct ArrayFile {
  std::string name;                                 // what messages call it
  std::map<std::string, std::size_t> lengths = {};  // of the dimensions
  std::vector<ArrayVariable> variables = {};
  ArrayAttributes attributes = {};  // of the whole
};

// The observations that read_observations would find in a NetCDF file with these variables: roles, presets, conditions, grid
// mappings and everything else are understood alike. The report names no files. Throws as read_observations does, and UsageError
// for an unknown type, a dimension without a length or an array of another size.
Reading read_arrays(const ArrayFile& arrays, const ReadOptions& options = {}, const Control& control = {});

// The grid that grid_from_file (drift/field.h) would find in such a file; of the arrays, only coordinates are looked at.
Grid grid_from_arrays(const ArrayFile& arrays);

}  // namespace drift
