#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "drift/export.h"
#include "drift/field_sink.h"

namespace DRIFT_PUBLIC drift {

// Writes a CF-1.8 / ACDD-1.3 NetCDF-4 file, compressed and chunked. The file appears under its name when finish() succeeds, not
// before; without it nothing is left. Blocks may come in any order. Throws Error with the path.
class FieldFileWriter : public FieldSink {
 public:
  FieldFileWriter(const std::filesystem::path& path, const FieldHeader& header);
  ~FieldFileWriter() override;
  FieldFileWriter(const FieldFileWriter&) = delete;
  FieldFileWriter& operator=(const FieldFileWriter&) = delete;

  void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
             std::size_t member = 0) override;
  void finish(const Control& control = {}) override;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace drift
