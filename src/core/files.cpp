#include "drift/files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/atomic_file.h"
#include "drift/error.h"

namespace drift {
namespace {

using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

void check_writable(const std::filesystem::path& path) {
  if (path.empty()) return;
  const auto fail = [&](const std::string& why) { throw Error(fmt::format("cannot write {}: {}", path.string(), why)); };
  const std::filesystem::path target = behind_links(path);
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    fail(fmt::format("the folder {} does not exist; create it first", folder.string()));
  if (std::filesystem::is_directory(target, ignored)) fail("it is a folder");
  if (std::filesystem::exists(target, ignored) && !std::filesystem::is_regular_file(target, ignored)) {
    fail("it exists and is not a regular file");
  }
  if (::access(folder.c_str(), W_OK) != 0) fail(std::generic_category().message(errno));
}

}  // namespace

void check_distinct(const NamedPaths& inputs, const NamedPaths& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    if (output.path.empty()) continue;
    const std::optional<Identity> identity = identity_of(output.path);
    for (const NamedPath& input : inputs) {
      if (!identity || identity_of(input.path) != identity) continue;
      throw UsageError(fmt::format("{} {} would overwrite {} {}, which is the same file; choose another name", output.what,
                                   output.path.string(), input.what, input.path.string()));
    }
    const std::filesystem::path target = behind_links(output.path);
    for (std::size_t k = 0; k < i; ++k) {
      if (outputs[k].path.empty() || behind_links(outputs[k].path) != target) continue;
      throw UsageError(fmt::format("{} and {} would both be written to {}; give them different names", outputs[k].what,
                                   output.what, output.path.string()));
    }
  }
}

void check_outputs(const NamedPaths& inputs, const NamedPaths& outputs) {
  check_distinct(inputs, outputs);
  for (const NamedPath& output : outputs) check_writable(output.path);
}

NamedPaths named_file(const std::string& what, const std::string& text) {
  std::error_code ignored;
  const std::string rest = text.starts_with("file:") ? text.substr(5) : text;
  // Of a variable in it, or of its difference from something else: NAME:VARIABLE, NAME - geoid.
  for (const std::string& path : {rest, rest.substr(0, rest.rfind(':')), rest.substr(0, rest.rfind(" - "))}) {
    if (std::filesystem::is_regular_file(path, ignored)) return {{what, path}};
  }
  return {};
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace drift
