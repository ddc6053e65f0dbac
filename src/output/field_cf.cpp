#include "drift/field_cf.h"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "output/field_file_coordinates.h"

namespace drift {
namespace {

// Keeps what a file would be given.
class Description : public NcTarget {
 public:
  int dimension(const std::string& name, std::size_t length) override {
    field.dimensions.emplace_back(name, length);
    return static_cast<int>(field.dimensions.size()) - 1;
  }
  void attribute(int variable, const std::string& name, const std::string& text) override {
    if (!text.empty()) attributes(variable).push_back({.name = name, .text = text});
  }
  void attribute(int variable, const std::string& name, int, std::span<const double> numbers) override {
    if (!numbers.empty()) attributes(variable).push_back({.name = name, .numbers = {numbers.begin(), numbers.end()}});
  }
  void fill(int, double) override {}
  void write(int variable, const Indices& start, const Indices& count, std::span<const double> numbers) override {
    keep(variable, start, count, numbers);
  }
  void write(int variable, const Indices& start, const Indices& count, std::span<const std::int32_t> numbers) override {
    keep(variable, start, count, numbers);
  }

  CfField field;

 private:
  int define(const std::string& name, int type, const std::vector<int>& dimensions, const NcStorage&) override {
    CfVariable& variable = field.variables.emplace_back();
    variable.name = name;
    variable.whole_numbers = type == NC_INT;
    for (const int id : dimensions) variable.dimensions.push_back(field.dimensions[static_cast<std::size_t>(id)].first);
    return static_cast<int>(field.variables.size()) - 1;
  }
  std::vector<FieldAttribute>& attributes(int variable) {
    return variable == kFile ? field.attributes : field.variables[static_cast<std::size_t>(variable)].attributes;
  }
  // Blocks come as whole rows, one after the other: each begins where the last one ended.
  template <class Number>
  void keep(int variable, const Indices&, const Indices&, std::span<const Number> numbers) {
    std::vector<double>& all = field.variables[static_cast<std::size_t>(variable)].numbers;
    for (const Number number : numbers) {
      const auto value = static_cast<double>(number);
      all.push_back(value == NC_FILL_DOUBLE ? std::numeric_limits<double>::quiet_NaN() : value);
    }
  }
};

}  // namespace

CfField cf_field(const FieldHeader& header) {
  check_header(header);
  Description description;
  const FieldChunks chunks = choose_chunks(header.grid, slots_of(header));
  const FieldVariables defined = define_variables(description, header, chunks);
  write_file_attributes(description, header, write_coordinates(description, header, chunks, defined.coordinates));
  return std::move(description.field);
}

}  // namespace drift
