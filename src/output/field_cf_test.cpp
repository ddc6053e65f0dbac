#include "drift/field_cf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field_file.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

FieldHeader header(const std::string& grid, const std::vector<double>& times = {25567.0, 25568.5}) {
  return {.grid = parse_grid(grid),
          .time_days = times,
          .layers = {{.info = {"sla", "Sea level anomaly", "", "m"}, .ancillary = {"sla_members"}},
                     {.info = {"sla_members", "Members", "", "m"}, .members = 2}},
          .attributes = {{"date_created", "2020-01-01T00:00:00Z"}, {"institution", "here"}}};
}

void write_zeros(const std::filesystem::path& path, const FieldHeader& header) {
  FieldFileWriter writer(path, header);
  const std::vector<double> zeros(header.grid.size());
  for (std::size_t time = 0; time < header.times(); ++time) {
    writer.write(0, time, 0, zeros);
    for (std::size_t member = 0; member < 2; ++member) writer.write(1, time, 0, zeros, member);
  }
  writer.finish();
}

void expect_same(const NcReader& file, const CfVariable& ours, const NcVariable& theirs) {
  EXPECT_EQ(ours.name, theirs.name);
  ASSERT_EQ(ours.dimensions.size(), theirs.dimensions.size()) << ours.name;
  for (std::size_t i = 0; i < ours.dimensions.size(); ++i) EXPECT_EQ(ours.dimensions[i], theirs.dimensions[i].name);
  std::vector<std::string> names;
  for (const FieldAttribute& attribute : ours.attributes) {
    names.push_back(attribute.name);
    EXPECT_EQ(attribute.text, file.text(theirs, attribute.name).value_or("")) << attribute.name;
    EXPECT_EQ(attribute.numbers, file.numbers(theirs, attribute.name)) << attribute.name;
  }
  std::vector<std::string> in_file = file.attribute_names(theirs);
  std::erase_if(in_file, [](const std::string& name) { return name == "_FillValue" || name == "actual_range"; });
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(in_file)) << ours.name;
  if (ours.numbers.empty()) return;
  const std::vector<double> numbers = file.read(theirs);
  ASSERT_EQ(ours.numbers.size(), numbers.size()) << ours.name;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_TRUE(ours.numbers[i] == numbers[i] || (std::isnan(ours.numbers[i]) && std::isnan(numbers[i]))) << ours.name;
  }
}

// Longitudes and latitudes; a projection whose corners have no position; a plane of no CRS.
TEST(CfField, IsWhatTheFileHolds) {
  const ScratchFolder folder;
  const std::vector<double> one = {25567.0}, two = {25567.0, 25568.5};
  const std::pair<const char*, std::vector<double>> maps[] = {
      {"bbox:170,60,-170,70:2", two}, {"EPSG:6931:1500km", two}, {"EPSG:6931:1500km", one}, {"xy:0,0,3,2:0.5", two}};
  for (const auto& [grid, times] : maps) {
    const CfField field = cf_field(header(grid, times));
    write_zeros(folder / "map.nc", header(grid, times));
    const NcReader file(folder / "map.nc");
    ASSERT_EQ(field.variables.size(), file.variables().size()) << grid;
    for (std::size_t i = 0; i < field.variables.size(); ++i) expect_same(file, field.variables[i], file.variables()[i]);
    EXPECT_GT(field.attributes.size(), 5u);
    for (const FieldAttribute& attribute : field.attributes) {
      EXPECT_EQ(attribute.text, file.text(attribute.name).value_or("")) << attribute.name;
      EXPECT_EQ(attribute.numbers, file.numbers(attribute.name)) << attribute.name;
    }
  }
}

TEST(CfField, RefusesWhatNoFileCanHold) {
  FieldHeader wrong = header("bbox:0,60,3,62:1");
  wrong.time_days = {1.0, 1.0};
  EXPECT_THROW(cf_field(wrong), UsageError);
}

}  // namespace
}  // namespace drift
