#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/atomic_file.h"

namespace drift {

// How a variable lies in the file.
struct NcStorage {
  std::vector<std::size_t> chunks = {};  // empty: in one piece, uncompressed
  std::size_t cache_bytes = 0;           // memory for chunks not yet written; 0: netCDF's own choice
};

// What takes dimensions, variables, attributes and the numbers of coordinates: a file, or a description of one in memory
// (output/field_cf.cpp), so that both hold the same.
class NcTarget {
 public:
  virtual ~NcTarget() = default;

  virtual int dimension(const std::string& name, std::size_t length) = 0;
  int variable(const std::string& name, int type, const std::vector<int>& dimensions, const NcStorage& storage = {}) {
    return define(name, type, dimensions, storage);
  }

  // kFile: of the whole file. An empty text, or no numbers, writes no attribute.
  static constexpr int kFile = -1;
  virtual void attribute(int variable, const std::string& name, const std::string& text) = 0;
  virtual void attribute(int variable, const std::string& name, int type, std::span<const double> numbers) = 0;
  virtual void fill(int variable, double number) = 0;  // _FillValue, of the variable's own type

  // A block, row-major; the spans hold the product of the counts.
  using Indices = std::vector<std::size_t>;
  virtual void write(int variable, const Indices& start, const Indices& count, std::span<const double> numbers) = 0;
  virtual void write(int variable, const Indices& start, const Indices& count, std::span<const std::int32_t> numbers) = 0;

 private:
  virtual int define(const std::string& name, int type, const std::vector<int>& dimensions, const NcStorage& storage) = 0;
};

// A NetCDF-4 file being written: dimensions, variables and attributes first, then numbers. It appears under its name when
// finish() succeeds; without it nothing is left. Every failure throws Error with the path. For one thread at a time.
class NcWriter : public NcTarget {
 public:
  explicit NcWriter(const std::filesystem::path& path);
  ~NcWriter() override;
  NcWriter(const NcWriter&) = delete;
  NcWriter& operator=(const NcWriter&) = delete;

  int dimension(const std::string& name, std::size_t length) override;
  void attribute(int variable, const std::string& name, const std::string& text) override;
  void attribute(int variable, const std::string& name, int type, std::span<const double> numbers) override;
  void fill(int variable, double number) override;

  // Takes disk space for so many bytes: a full disk is noticed before the work and not after it. HDF5 does not survive one: a
  // file that it cannot flush it cannot close either, and one left open takes the process down at its end.
  void reserve(std::size_t bytes);

  void write(int variable, const Indices& start, const Indices& count, std::span<const double> numbers) override;
  void write(int variable, const Indices& start, const Indices& count, std::span<const std::int32_t> numbers) override;
  void write(int variable, const Indices& start, const Indices& count, std::span<const float> numbers);
  void write(int variable, const Indices& start, const Indices& count, std::span<const std::uint8_t> numbers);

  void finish();

 private:
  int define(const std::string& name, int type, const std::vector<int>& dimensions, const NcStorage& storage) override;
  template <class Call>
  void call(const std::string& what, Call&& netcdf_call);
  void abandon() noexcept;

  std::filesystem::path path_;
  AtomicFile atomic_;
  int file_ = -1;
};

}  // namespace drift
