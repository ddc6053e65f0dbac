#include "netcdf/netcdf_reader.h"

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "core/atomic_file.h"
#include "drift/error.h"
#include "drift/text.h"
#include "netcdf/classic_header.h"
#include "netcdf/file_kind.h"
#include "netcdf/netcdf_call.h"
#include "netcdf/zarr_3.h"
#include "netcdf/zarr_codecs.h"
#include "netcdf/zarr_metadata.h"

namespace drift {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

void check_readable(const std::filesystem::path& path) {
  if (is_remote(path)) return;
  if (is_zarr(path)) return check_zarr_metadata(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(fmt::format("{}: {}", path.string(), why_missing(path)));
  check_is_no_folder(path);
  if (!std::filesystem::is_regular_file(status)) throw Error(fmt::format("{}: is not a regular file", path.string()));
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw Error(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  if (bytes == 0) throw Error(fmt::format("{}: is empty", path.string()));
  check_classic_header(path);
}

// As netCDF-C takes it.
std::string address_of(const std::filesystem::path& path) {
  if (!is_zarr(path)) return path.string();
  return fmt::format("file://{}#mode=zarr,file", std::filesystem::absolute(path).lexically_normal().string());
}

[[noreturn]] void fail_to_open(const std::filesystem::path& path, int status) {
  if (is_remote(path)) {
    throw Error(
        fmt::format("{}: cannot be opened ({}): the server does not answer, or the address is not one of OPeNDAP; fetch a plain "
                    "file first, with curl or wget",
                    path.string(), nc_strerror(status)));
  }
  if (is_zarr(path)) throw Error(fmt::format("{}: cannot be opened as Zarr: {}", path.string(), nc_strerror(status)));
  if (!looks_like_netcdf(path)) throw Error(fmt::format("{}: is not a NetCDF file", path.string()));
  throw Error(fmt::format("{}: cannot be opened: {}; is it truncated or damaged? Compare its size with the original's",
                          path.string(), nc_strerror(status)));
}

}  // namespace

NcReader::NcReader(const std::filesystem::path& path, const std::stop_token& stop, Packed packed) : NcSource(path) {
  check_readable(path);
  if (is_zarr_3(path)) view_ = std::make_unique<const Zarr3View>(path);
  open();
  if (packed == Packed::unpack && is_zarr(path)) unpack_zarr(stop);
}

std::filesystem::path NcReader::store() const { return view_ ? view_->store() : path(); }

void NcReader::open() {
  const auto lock = lock_netcdf();
  const QuietStderr quiet(is_remote(path()));
  if (const int status = nc_open(address_of(store()).c_str(), NC_NOWRITE, &file_); status != NC_NOERR)
    fail_to_open(path(), status);
  try {
    list_group(file_, "");
  } catch (...) {
    nc_close(file_);
    throw;
  }
}

// What netCDF cannot unpack GDAL may.
void NcReader::unpack_zarr(const std::stop_token& stop) {
  {
    const auto lock = lock_netcdf();
    const auto is_packed = [&](const NcVariable& variable) {
      return !missing_codecs(store(), variable.name, filters_of(variable)).empty();
    };
    if (std::none_of(variables().begin(), variables().end(), is_packed)) return;
  }
  auto unpacked = UnpackedZarr::of(store(), stop);
  if (!unpacked) return;
  NcReader other(unpacked->file());
  for (const NcVariable& variable : variables()) {
    if (other.find(variable.name) == nullptr) return;  // then the codec is refused when the variable is read
  }
  std::swap(file_, other.file_);
  swap_variables(other);
  unpacked_ = std::move(unpacked);
}

NcReader::~NcReader() {
  const auto lock = lock_netcdf();
  nc_close(file_);
}

void NcReader::list_group(int group, const std::string& prefix) {
  const auto check = [&](int status) { check_netcdf(status, path(), "its contents cannot be listed"); };
  int count = 0;
  check(nc_inq_nvars(group, &count));
  for (int id = 0; id < count; ++id) {
    std::array<char, NC_MAX_NAME + 1> name = {};
    int type = 0, dimension_count = 0;
    std::array<int, NC_MAX_VAR_DIMS> dimension_ids = {};
    check(nc_inq_var(group, id, name.data(), &type, &dimension_count, dimension_ids.data(), nullptr));
    NcVariable variable = {prefix + name.data(), group, id, type, {}};
    for (int i = 0; i < dimension_count; ++i) {
      const int dimension = dimension_ids.at(static_cast<std::size_t>(i));
      std::array<char, NC_MAX_NAME + 1> dimension_name = {};
      std::size_t length = 0;
      check(nc_inq_dim(group, dimension, dimension_name.data(), &length));
      variable.dimensions.push_back({dimension_name.data(), dimension, length});
    }
    add(std::move(variable));
  }
  int groups = 0;
  check(nc_inq_grps(group, &groups, nullptr));
  std::vector<int> ids(static_cast<std::size_t>(groups));
  check(nc_inq_grps(group, nullptr, ids.data()));
  for (const int id : ids) {
    std::array<char, NC_MAX_NAME + 1> name = {};
    check(nc_inq_grpname(id, name.data()));
    list_group(id, prefix + name.data() + "/");
  }
}

std::optional<std::string> NcReader::text_of(int group, int variable, const std::string& attribute) const {
  const auto lock = lock_netcdf();
  int type = 0;
  std::size_t length = 0;
  if (nc_inq_att(group, variable, attribute.c_str(), &type, &length) != NC_NOERR) return std::nullopt;
  if (type == NC_CHAR) {
    std::string text(length, '\0');
    if (nc_get_att_text(group, variable, attribute.c_str(), text.data()) != NC_NOERR) return std::nullopt;
    return to_utf8(trimmed(std::move(text)));
  }
  if (type != NC_STRING || length == 0) return std::nullopt;
  std::vector<char*> strings(length);
  if (nc_get_att_string(group, variable, attribute.c_str(), strings.data()) != NC_NOERR) return std::nullopt;
  std::string text = strings[0] == nullptr ? "" : strings[0];
  nc_free_string(length, strings.data());
  return to_utf8(trimmed(std::move(text)));
}

std::optional<std::string> NcReader::text(const std::string& attribute) const { return text_of(file_, NC_GLOBAL, attribute); }

std::optional<std::string> NcReader::text(const NcVariable& variable, const std::string& attribute) const {
  return text_of(variable.group, variable.id, attribute);
}

std::vector<double> NcReader::numbers_of(int group, int variable, const std::string& attribute) const {
  const auto lock = lock_netcdf();
  int type = 0;
  std::size_t length = 0;
  if (nc_inq_att(group, variable, attribute.c_str(), &type, &length) != NC_NOERR) return {};
  if (type == NC_CHAR || type == NC_STRING || type > NC_MAX_ATOMIC_TYPE) return {};
  std::vector<double> numbers(length);
  if (nc_get_att_double(group, variable, attribute.c_str(), numbers.data()) != NC_NOERR) return {};
  return numbers;
}

std::vector<double> NcReader::numbers(const std::string& attribute) const { return numbers_of(file_, NC_GLOBAL, attribute); }

std::vector<double> NcReader::numbers(const NcVariable& variable, const std::string& attribute) const {
  std::vector<double> found = numbers_of(variable.group, variable.id, attribute);
  if (found.empty() && attribute == "_FillValue" && is_zarr(path()) && !unpacked_) {
    if (const auto fill = zarr_fill_value(store(), variable.name)) found = {*fill};
  }
  return found;
}

int NcReader::type_of(const NcVariable& variable, const std::string& attribute) const {
  const auto lock = lock_netcdf();
  int type = NC_NAT;
  return nc_inq_atttype(variable.group, variable.id, attribute.c_str(), &type) == NC_NOERR ? type : NC_NAT;
}

std::vector<std::string> NcReader::attribute_names(const NcVariable& variable) const {
  const auto lock = lock_netcdf();
  int count = 0;
  std::vector<std::string> names;
  if (nc_inq_varnatts(variable.group, variable.id, &count) != NC_NOERR) return names;
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> name = {};
    if (nc_inq_attname(variable.group, variable.id, i, name.data()) == NC_NOERR) names.emplace_back(name.data());
  }
  return names;
}

void NcReader::keep_chunks(const NcVariable& variable, std::size_t axis) const {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  const auto lock = lock_netcdf();
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> chunk(variable.dimensions.size());
  if (chunk.empty() || nc_inq_var_chunking(variable.group, variable.id, &storage, chunk.data()) != NC_NOERR) return;
  if (storage != NC_CHUNKED) return;
  std::size_t bytes = 1;
  if (nc_inq_type(variable.group, variable.type, nullptr, &bytes) != NC_NOERR) return;
  for (std::size_t i = 0; i < chunk.size() && bytes < kMostBytes; ++i) {
    const std::size_t length = std::max<std::size_t>(1, chunk[i]);
    bytes *= i <= axis ? length : (variable.dimensions[i].length + length - 1) / length * length;
  }
  constexpr std::size_t kSlots = 4133;  // a prime, more than chunks that are kept
  nc_set_var_chunk_cache(variable.group, variable.id, std::min(bytes + (bytes >> 2U), kMostBytes), kSlots, 0.75F);
}

// Under the lock, as the next.
std::size_t NcReader::filters_of(const NcVariable& variable) {
  std::size_t filters = 0;
  return nc_inq_var_filter_ids(variable.group, variable.id, &filters, nullptr) == NC_NOERR ? filters : 0;
}

void NcReader::check_packing(const NcVariable& variable) const {
  if (is_zarr(path()) && !unpacked_) check_codecs(path(), store(), variable.name, filters_of(variable));
}

bool NcReader::has_checksums(const NcVariable& variable) const {
  const auto lock = lock_netcdf();
  int checksums = NC_NOCHECKSUM;  // classic files have none, and say so by an error
  return nc_inq_var_fletcher32(variable.group, variable.id, &checksums) == NC_NOERR && checksums == NC_FLETCHER32;
}

void NcReader::read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                           std::span<double> out) const {
  const std::size_t size = std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
  if (start.size() != variable.dimensions.size() || count.size() != start.size() || out.size() != size) {
    throw UsageError(fmt::format("{}: variable '{}' has {} dimensions, {} are asked for with {} numbers in {}", path().string(),
                                 variable.name, variable.dimensions.size(), start.size(), size, out.size()));
  }
  if (size == 0) return;
  const auto lock = lock_netcdf();
  const QuietStderr quiet(is_remote(path()));
  check_packing(variable);
  const std::string failure = fmt::format("variable '{}' cannot be read; is the file truncated or damaged?", variable.name);
  if (variable.type == NC_CHAR) {
    std::string characters(size, '\0');
    check_netcdf(nc_get_vara_text(variable.group, variable.id, start.data(), count.data(), characters.data()), path(), failure);
    std::transform(characters.begin(), characters.end(), out.begin(),
                   [](char c) { return c >= '0' && c <= '9' ? c - '0' : std::numeric_limits<double>::quiet_NaN(); });
    return;
  }
  check_netcdf(nc_get_vara_double(variable.group, variable.id, start.data(), count.data(), out.data()), path(), failure);
}

void NcReader::read_through(const NcVariable& variable) const {
  constexpr std::size_t kBlock = std::size_t{1} << 22;  // numbers in memory at a time
  std::vector<std::size_t> start(variable.dimensions.size(), 0), count;
  for (const NcDimension& dimension : variable.dimensions) count.push_back(dimension.length);
  const std::size_t size = variable.size();
  const std::size_t rows = count.empty() ? 1 : count[0];
  if (size == 0) return;
  const std::size_t width = size / rows, step = std::clamp<std::size_t>(kBlock / width, 1, rows);
  std::vector<double> numbers(step * width);
  for (std::size_t row = 0; row < rows; row += step) {
    const std::size_t here = std::min(step, rows - row);
    if (!count.empty()) start[0] = row, count[0] = here;
    read_stored(variable, start, count, std::span(numbers).first(here * width));
  }
}

std::vector<std::string> NcReader::read_text(const NcVariable& variable) const {
  const auto lock = lock_netcdf();
  const std::string what = fmt::format("variable '{}' cannot be read as text", variable.name);
  check_packing(variable);
  const std::size_t size = variable.size();
  if (variable.type == NC_STRING) {
    std::vector<char*> strings(size, nullptr);
    check_netcdf(nc_get_var_string(variable.group, variable.id, strings.data()), path(), what);
    std::vector<std::string> texts;
    for (const char* text : strings) texts.emplace_back(text == nullptr ? "" : text);
    nc_free_string(size, strings.data());
    return texts;
  }
  std::string characters(size, '\0');
  check_netcdf(nc_get_var_text(variable.group, variable.id, characters.data()), path(), what);
  const std::size_t width = variable.dimensions.empty() ? 1 : variable.dimensions.back().length;
  std::vector<std::string> texts;
  for (std::size_t i = 0; width > 0 && i + width <= size; i += width) texts.push_back(trimmed(characters.substr(i, width)));
  return texts;
}

}  // namespace drift
