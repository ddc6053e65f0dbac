#pragma once

#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "netcdf/netcdf_call.h"

namespace drift {

// Writes NetCDF files for tests. Numbers are those that are stored; they are written when it goes.
class NcTestFile {
 public:
  explicit NcTestFile(const std::filesystem::path& path, int format = NC_NETCDF4) {
    std::filesystem::remove(path);
    const auto lock = lock_netcdf();
    check(nc_create(path.c_str(), NC_CLOBBER | format, &file_));
    group_ = file_;
  }
  NcTestFile(const NcTestFile&) = delete;
  NcTestFile& operator=(const NcTestFile&) = delete;
  ~NcTestFile() {
    const auto lock = lock_netcdf();
    check(nc_enddef(file_));
    for (const Numbers& some : numbers_) write(some);
    for (const Characters& some : characters_) check(nc_put_var_text(some.group, some.variable, some.text.c_str()));
    for (const Texts& some : texts_) {
      std::vector<const char*> pointers;
      for (const std::string& text : some.texts) pointers.push_back(text.c_str());
      check(nc_put_var_string(some.group, some.variable, pointers.data()));
    }
    check(nc_close(file_));
  }

  // What follows is in this group, made where it is not there; "": the file itself.
  void enter(const std::string& path) {
    const auto lock = lock_netcdf();
    group_ = file_;
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string name = path.substr(begin, end - begin);
      int id = 0;
      if (nc_inq_grp_ncid(group_, name.c_str(), &id) != NC_NOERR) check(nc_def_grp(group_, name.c_str(), &id));
      group_ = id;
      begin = end + 1;
    }
  }

  int dimension(const std::string& name, std::size_t length) {
    const auto lock = lock_netcdf();
    int id = 0;
    check(nc_def_dim(group_, name.c_str(), length, &id));
    return id;
  }

  int variable(const std::string& name, int type, const std::vector<int>& dimensions, std::vector<double> numbers,
               const std::string& units = "", const std::string& standard_name = "") {
    const auto lock = lock_netcdf();
    int id = 0;
    check(nc_def_var(group_, name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    put_text(id, "units", units);
    put_text(id, "standard_name", standard_name);
    numbers_.push_back({group_, id, std::move(numbers)});
    return id;
  }

  int strings(const std::string& name, const std::vector<int>& dimensions, std::vector<std::string> texts) {
    const auto lock = lock_netcdf();
    int id = 0;
    check(nc_def_var(group_, name.c_str(), NC_STRING, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    texts_.push_back({group_, id, std::move(texts)});
    return id;
  }

  // One character for each cell.
  int characters(const std::string& name, const std::vector<int>& dimensions, std::string text) {
    const auto lock = lock_netcdf();
    int id = 0;
    check(nc_def_var(group_, name.c_str(), NC_CHAR, static_cast<int>(dimensions.size()), dimensions.data(), &id));
    characters_.push_back({group_, id, std::move(text)});
    return id;
  }

  // Of the variable, NC_GLOBAL: of the file.
  void attribute(int variable, const std::string& name, const std::string& text) {
    const auto lock = lock_netcdf();
    put_text(variable, name, text);
  }
  void attribute(int variable, const std::string& name, int type, const std::vector<double>& numbers) {
    const auto lock = lock_netcdf();
    check(
        nc_put_att_double(variable == NC_GLOBAL ? file_ : group_, variable, name.c_str(), type, numbers.size(), numbers.data()));
  }
  void pack(int variable, double scale, double offset = 0.0) {
    attribute(variable, "scale_factor", NC_DOUBLE, {scale});
    attribute(variable, "add_offset", NC_DOUBLE, {offset});
  }
  void deflate(int variable, std::vector<std::size_t> chunks) {
    const auto lock = lock_netcdf();
    check(nc_def_var_chunking(group_, variable, NC_CHUNKED, chunks.data()));
    check(nc_def_var_deflate(group_, variable, 1, 1, 1));
  }

 private:
  struct Numbers {
    int group, variable;
    std::vector<double> numbers;
  };
  struct Characters {
    int group, variable;
    std::string text;
  };
  struct Texts {
    int group, variable;
    std::vector<std::string> texts;
  };

  static void check(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

  void put_text(int variable, const std::string& name, const std::string& text) const {
    if (text.empty()) return;
    check(nc_put_att_text(variable == NC_GLOBAL ? file_ : group_, variable, name.c_str(), text.size(), text.c_str()));
  }

  static void write(const Numbers& some) {
    if (some.numbers.empty()) return;
    int rank = 0;
    check(nc_inq_varndims(some.group, some.variable, &rank));
    std::vector<int> ids(static_cast<std::size_t>(rank));
    check(nc_inq_vardimid(some.group, some.variable, ids.data()));
    std::vector<std::size_t> start(ids.size(), 0), count;
    std::size_t known = 1;
    for (const int id : ids) {
      std::size_t length = 0;
      check(nc_inq_dimlen(some.group, id, &length));
      if (!count.empty()) known *= length;
      count.push_back(length);
    }
    if (!count.empty()) count[0] = some.numbers.size() / known;  // it may be unlimited
    check(nc_put_vara_double(some.group, some.variable, start.data(), count.data(), some.numbers.data()));
  }

  int file_ = -1, group_ = -1;
  std::vector<Numbers> numbers_;
  std::vector<Characters> characters_;
  std::vector<Texts> texts_;
};

}  // namespace drift
