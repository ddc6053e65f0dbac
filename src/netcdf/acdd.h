#pragma once

#include <map>
#include <string>

#include "netcdf/netcdf_writer.h"

namespace drift {

// "2020-03-01T00:00:00Z", with the time of day at midnight too.
std::string acdd_time(double days_since_1950);

// The attributes of a file after CF-1.8 and ACDD-1.3 (Attribute Convention for Data Discovery). The caller's stand over those of
// drift's own; Conventions, source, product_version, date_created and standard_name_vocabulary are added where they are missing.
struct FileAttributes {
  std::map<std::string, std::string> texts = {};
  std::map<std::string, double> numbers = {};

  void add_box(double west, double south, double east, double north);  // degrees; west > east: over the date line
  void add_time_span(double first_days, double last_days);             // since 1950-01-01
};

// A name after CF's recommendation: letters, digits and _, a letter first.
bool is_cf_name(const std::string& name);

// Throws UsageError unless a user may give the file this attribute: a CF name, a text, and none of those that drift settles
// itself because they follow from the file's contents (Conventions, history, source, date_created, geospatial_*, time_coverage_*,
// ...).
void check_callers_attribute(const std::string& name, const std::string& text);

void write_attributes(NcTarget& writer, FileAttributes own, const std::map<std::string, std::string>& callers);

}  // namespace drift
