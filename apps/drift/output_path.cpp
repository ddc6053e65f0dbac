#include "output_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "drift/error.h"

void check_output(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw drift::Error(fmt::format("cannot write {}: there is no folder {}; make it first", path.string(), folder.string()));
  }
  if (std::filesystem::is_directory(path, error))
    throw drift::Error(fmt::format("cannot write {}: it is a folder", path.string()));
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw drift::Error(fmt::format("cannot write {}: it exists and is not a regular file", path.string()));
  if (::access(folder.c_str(), W_OK) != 0) {
    throw drift::Error(fmt::format("cannot write {}: {}", path.string(), std::generic_category().message(errno)));
  }
}
