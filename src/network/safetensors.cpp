#include "network/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "drift/error.h"
#include "network/safetensors_checksums.h"
#include "network/safetensors_header.h"

namespace drift {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian: a big-endian machine must swap bytes");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = std::uint64_t{64} << 20;
constexpr std::size_t kDataAlignment = 64;                  // bytes
constexpr std::size_t kReadBlock = std::size_t{256} << 10;  // bytes read and then summed while they are in the cache

// Bytes of an entry, 0 for a type that safetensors does not have.
std::uint64_t bytes_of(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> bytes = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                                                             {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
                                                             {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8}};
  const auto found = bytes.find(dtype);
  return found == bytes.end() ? 0 : found->second;
}

// The product, or nothing where it does not fit 64 bits.
std::optional<std::uint64_t> checked_product(std::span<const std::size_t> factors, std::uint64_t start) {
  std::uint64_t product = start;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && product > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    product *= factor;
  }
  return product;
}

std::string shape_text(std::span<const std::size_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string quoted(const std::filesystem::path& path, const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("cannot write {}: the name or text \"{}\" is not UTF-8", path.string(), text.substr(0, 60)));
  }
}

constexpr std::array<const char*, 3> kTypes = {"F32", "F64", "I64"};  // in the order of TensorSource::data

std::span<const std::byte> bytes_of(const TensorSource& tensor) {
  return std::visit([](const auto& data) { return std::span<const std::byte>(std::as_bytes(data)); }, tensor.data);
}

void check_sources(const std::filesystem::path& path, std::span<const TensorSource> tensors) {
  std::set<std::string> names = {kSafetensorsMetadata};
  for (const TensorSource& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      throw Error(fmt::format("cannot write {}: two tensors have the name \"{}\"", path.string(), tensor.name));
    }
    const std::size_t size = std::visit([](const auto& data) { return data.size(); }, tensor.data);
    if (checked_product(tensor.shape, 1) != size) {
      throw Error(fmt::format("cannot write {}: tensor \"{}\" has shape {} but {} numbers", path.string(), tensor.name,
                              shape_text(tensor.shape), size));
    }
  }
}

// The JSON with its checksums, padded with blanks so that the data begin aligned.
std::string make_header(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                        const std::map<std::string, std::string>& callers) {
  std::vector<std::uint32_t> checksums;
  for (const TensorSource& tensor : tensors) checksums.push_back(crc32_of(bytes_of(tensor)));
  const std::map<std::string, std::string> metadata = with_checksums(callers, checksums);
  std::string header = fmt::format("{{\"{}\":{{", kSafetensorsMetadata);
  const char* separator = "";
  for (const auto& [key, text] : metadata) {
    header += fmt::format("{}{}:{}", separator, quoted(path, key), quoted(path, text));
    separator = ",";
  }
  header += "}";
  std::size_t begin = 0;
  for (const TensorSource& tensor : tensors) {
    const std::size_t end = begin + bytes_of(tensor).size();
    header += fmt::format(",{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", quoted(path, tensor.name),
                          kTypes.at(tensor.data.index()), fmt::join(tensor.shape, ","), begin, end);
    begin = end;
  }
  header += "}";
  const std::size_t used = (kLengthBytes + header.size()) % kDataAlignment;
  if (used != 0) header.append(kDataAlignment - used, ' ');
  if (header.size() > kMaxHeader) {
    throw Error(fmt::format("cannot write {}: names and metadata take {} bytes but a header may have {}", path.string(),
                            header.size(), kMaxHeader));
  }
  seal_header(header);
  return header;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_sources(path, tensors);
  const std::string header = make_header(path, tensors, metadata);
  const std::array<std::uint64_t, 1> length = {header.size()};
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(length)));
  file.write(std::as_bytes(std::span(header)));
  for (const TensorSource& tensor : tensors) file.write(bytes_of(tensor));
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
  // O_NONBLOCK: a pipe must not keep us waiting, it is refused below.
  file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_.is_open()) fail("cannot be read: " + std::generic_category().message(errno));
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) fail("cannot be read: " + std::generic_category().message(errno));
  if (!S_ISREG(status.st_mode)) fail("is not a regular file");
  file_size_ = static_cast<std::uint64_t>(status.st_size);
  const std::string text = read_header();
  std::optional<std::vector<std::uint32_t>> checksums;
  try {
    check_header_crc32(text);
    SafetensorsHeader header = parse_safetensors_header(text);
    metadata_ = std::move(header.metadata);
    tensors_ = std::move(header.tensors);
    checksums = take_checksums(metadata_, text, tensors_.size());
  } catch (const Error& error) {
    fail(error.what());
  }
  has_checksums_ = checksums.has_value();
  const std::vector<TensorEntry*> in_order = check_offsets();
  for (std::size_t i = 0; has_checksums_ && i < in_order.size(); ++i) in_order[i]->crc32 = (*checksums)[i];
}

void SafetensorsFile::check_data(const Control& control) const {
  std::vector<std::byte> block;
  for (const auto& [name, entry] : tensors_) {
    block.resize(std::max(block.size(), static_cast<std::size_t>(std::min<std::uint64_t>(entry.end - entry.begin, kReadBlock))));
    std::uint32_t checksum = 0;
    for (std::uint64_t at = entry.begin; at < entry.end;) {
      control.check_stop();
      const std::span<std::byte> piece(block.data(), std::min<std::uint64_t>(entry.end - at, kReadBlock));
      checksum = read_bytes(data_begin_ + at, piece, checksum);
      at += piece.size();
    }
    check_checksum(name, entry, checksum);
  }
}

void SafetensorsFile::check_checksum(const std::string& name, const TensorEntry& entry, std::uint32_t found) const {
  if (has_checksums_ && found != entry.crc32) {
    fail(fmt::format("is damaged: tensor \"{}\" does not match its checksum; fetch or copy the file again", name));
  }
}

void SafetensorsFile::expect(const std::string& name, std::span<const std::size_t> shape, const std::string& dtype) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(fmt::format("tensor \"{}\" is missing", name));
  const TensorEntry& entry = found->second;
  if (entry.dtype != dtype) fail(fmt::format("tensor \"{}\" is of {} but {} is wanted", name, entry.dtype, dtype));
  if (!std::equal(shape.begin(), shape.end(), entry.shape.begin(), entry.shape.end())) {
    fail(fmt::format("tensor \"{}\" has shape {} but {} is wanted", name, shape_text(entry.shape), shape_text(shape)));
  }
}

void SafetensorsFile::read_as(const std::string& dtype, const std::string& name, std::span<const std::size_t> shape,
                              std::size_t count, std::span<std::byte> out) const {
  expect(name, shape, dtype);
  if (checked_product(shape, 1) != count) {
    fail(fmt::format("tensor \"{}\" has shape {} but room for {} numbers", name, shape_text(shape), count));
  }
  const TensorEntry& entry = tensors_.at(name);
  check_checksum(name, entry, read_bytes(data_begin_ + entry.begin, out, 0));
}

void SafetensorsFile::read(const std::string& name, std::span<const std::size_t> shape, std::span<float> out) const {
  read_as("F32", name, shape, out.size(), std::as_writable_bytes(out));
}
void SafetensorsFile::read(const std::string& name, std::span<const std::size_t> shape, std::span<double> out) const {
  read_as("F64", name, shape, out.size(), std::as_writable_bytes(out));
}
void SafetensorsFile::read(const std::string& name, std::span<const std::size_t> shape, std::span<std::int64_t> out) const {
  read_as("I64", name, shape, out.size(), std::as_writable_bytes(out));
}

void SafetensorsFile::fail(const std::string& message) const { throw Error(fmt::format("{}: {}", path_.string(), message)); }

std::string SafetensorsFile::read_header() {
  if (file_size_ < kLengthBytes) fail(fmt::format("is not a safetensors file: it has {} bytes", file_size_));
  std::array<std::uint64_t, 1> length = {};
  read_bytes(0, std::as_writable_bytes(std::span(length)), 0);
  if (length[0] > kMaxHeader) fail("is not a safetensors file, as models of drift fit are");
  if (length[0] > file_size_ - kLengthBytes) {
    fail(fmt::format("is not a safetensors file or is cut short: its header would have {} bytes, the file has {}", length[0],
                     file_size_));
  }
  std::string text(length[0], '\0');
  read_bytes(kLengthBytes, std::as_writable_bytes(std::span(text)), 0);
  data_begin_ = kLengthBytes + length[0];
  return text;
}

std::uint32_t SafetensorsFile::read_bytes(std::uint64_t position, std::span<std::byte> out, std::uint32_t checksum) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(file_.get(), out.data(), std::min(out.size(), kReadBlock), static_cast<off_t>(position));
    if (count == 0) fail("ended while it was read: has it just been overwritten?");
    if (count > 0) {
      if (has_checksums_) checksum = crc32_of(out.first(static_cast<std::size_t>(count)), checksum);
      position += static_cast<std::uint64_t>(count);
      out = out.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail("cannot be read: " + std::generic_category().message(errno));
    }
  }
  return checksum;
}

std::vector<TensorEntry*> SafetensorsFile::check_offsets() {
  using Named = std::pair<const std::string, TensorEntry>;
  std::vector<Named*> in_order;
  in_order.reserve(tensors_.size());
  for (Named& tensor : tensors_) {
    const TensorEntry& entry = tensor.second;
    const std::uint64_t width = bytes_of(entry.dtype);
    if (width == 0) fail(fmt::format("tensor \"{}\" is of an unknown type \"{}\"", tensor.first, entry.dtype));
    const std::optional<std::uint64_t> bytes = checked_product(entry.shape, width);
    if (!bytes || entry.begin > entry.end || entry.end - entry.begin != *bytes) {
      fail(fmt::format("tensor \"{}\" has shape {} of {} but data_offsets [{}, {}]", tensor.first, shape_text(entry.shape),
                       entry.dtype, entry.begin, entry.end));
    }
    in_order.push_back(&tensor);
  }
  std::sort(in_order.begin(), in_order.end(), [](const Named* a, const Named* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t end = 0;
  std::vector<TensorEntry*> entries;
  for (Named* tensor : in_order) {
    if (tensor->second.begin != end) {
      fail(fmt::format("tensor \"{}\" begins at byte {} of the data but the one before it ends at {}", tensor->first,
                       tensor->second.begin, end));
    }
    end = tensor->second.end;
    entries.push_back(&tensor->second);
  }
  const std::uint64_t data = file_size_ - data_begin_;
  if (end != data) fail(fmt::format("is cut short or has been added to: its tensors take {} bytes, its data {}", end, data));
  return entries;
}

}  // namespace drift
