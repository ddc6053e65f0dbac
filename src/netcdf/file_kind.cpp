#include "netcdf/file_kind.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

#include "drift/error.h"

namespace drift {

bool is_remote(const std::filesystem::path& path) {
  const std::string& text = path.native();
  return text.starts_with("http://") || text.starts_with("https://") || text.starts_with("dap4://") ||
         text.starts_with("dods://");
}

bool is_zarr(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path / ".zgroup", error) || is_zarr_3(path);
}

bool is_zarr_3(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path / "zarr.json", error) && !std::filesystem::exists(path / ".zgroup", error);
}

void check_is_no_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) || is_zarr(path)) return;
  throw Error(fmt::format("{}: is a folder; name the files in it, for instance {}", path.string(), (path / "*.nc").string()));
}

bool is_hdf5(const std::filesystem::path& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t kBegins = 4;  // at the file's own beginning these tell, and damage behind them is HDF5's to find
  constexpr std::streamoff kFirstBlock = 512;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a device may have no end
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path, error));
  std::array<char, kSignature.size()> bytes = {};
  std::ifstream file(path, std::ios::binary);
  for (std::streamoff at = 0; at < size && file.seekg(at).read(bytes.data(), bytes.size()); at = at == 0 ? kFirstBlock : 2 * at) {
    const std::string_view text(bytes.data(), bytes.size());
    if (text == kSignature || (at == 0 && text.starts_with(kSignature.substr(0, kBegins)))) return true;
  }
  return false;
}

bool looks_like_netcdf(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // and nothing is taken out of a pipe
  std::array<char, 4> magic = {};
  std::ifstream file(path, std::ios::binary);
  file.read(magic.data(), magic.size());
  const std::string_view text(magic.data(), static_cast<std::size_t>(file.gcount()));
  return text == "\x89HDF" || (text.size() == 4 && text.starts_with("CDF") && (text[3] == 1 || text[3] == 2 || text[3] == 5)) ||
         is_hdf5(path);
}

}  // namespace drift
