#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/atomic_file.h"
#include "drift/control.h"

namespace drift {

// The safetensors container (github.com/huggingface/safetensors): 8 bytes of header length, little-endian; a JSON header
//   {"name": {"dtype": "F32", "shape": [rows, cols], "data_offsets": [begin, end]}, ..., "__metadata__": {"key": "text"}};
// then the tensors' bytes, row-major, little-endian, without gaps, at those offsets. drift writes and reads F32, F64 and I64, and
// adds checksums to the metadata (network/safetensors_checksums.h); files without them are read unchecked.

// One tensor to write. The numbers stay where they are.
struct TensorSource {
  std::string name;
  std::vector<std::size_t> shape;
  std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>> data;
};

// Streams the tensors into a file that appears whole or not at all (AtomicFile). Throws Error: a name given twice, a shape that
// does not fit its numbers, text that is not UTF-8, or the system's reason. The data begin at a multiple of 64 bytes.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata);

struct TensorEntry {
  std::string dtype;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;  // bytes from the start of the data
  std::uint64_t end = 0;
  std::uint32_t crc32 = 0;  // where the file has checksums
};

// An open file whose header has been read and found consistent with itself and with the file's size: every tensor lies inside,
// none overlap, none are missing, and bytes agree with shapes. Where the file has checksums, the header's holds, and a tensor's
// is checked when it is read. What is allocated is in proportion to the file, whatever it claims. Every message begins with the
// path.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }  // without the checksums
  bool has_checksums() const { return has_checksums_; }
  const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }

  // Throws Error unless the tensor is there, of F32 (or another type) and of this shape.
  void expect(const std::string& name, std::span<const std::size_t> shape, const std::string& dtype = "F32") const;
  // The same, then reads its numbers; `out` has as many entries as the shape.
  void read(const std::string& name, std::span<const std::size_t> shape, std::span<float> out) const;
  void read(const std::string& name, std::span<const std::size_t> shape, std::span<double> out) const;
  void read(const std::string& name, std::span<const std::size_t> shape, std::span<std::int64_t> out) const;

  // Reads every tensor and compares its checksum, if there are any.
  void check_data(const Control& control = {}) const;

  // Throws Error with the path before the message.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string read_header();
  // Returns the checksum of what was read, continued from `checksum`; without checksums, that one.
  std::uint32_t read_bytes(std::uint64_t position, std::span<std::byte> out, std::uint32_t checksum) const;
  void check_checksum(const std::string& name, const TensorEntry& entry, std::uint32_t found) const;
  void read_as(const std::string& dtype, const std::string& name, std::span<const std::size_t> shape, std::size_t count,
               std::span<std::byte> out) const;
  std::vector<TensorEntry*> check_offsets();  // in the order in which they lie

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t file_size_ = 0;
  std::uint64_t data_begin_ = 0;  // bytes from the start of the file
  bool has_checksums_ = false;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace drift
