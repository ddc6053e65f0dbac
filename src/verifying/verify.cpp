#include "drift/verify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/atomic_file.h"
#include "drift/engine.h"
#include "drift/enum_words.h"
#include "drift/error.h"
#include "drift/field_model.h"
#include "drift/grouped.h"
#include "drift/run_settings.h"
#include "drift/tune.h"
#include "fields/part.h"
#include "netcdf/file_kind.h"
#include "netcdf/guarded_open.h"
#include "netcdf/netcdf_reader.h"
#include "network/safetensors.h"

namespace drift {
namespace {

std::string count_text(std::size_t count) { return grouped(static_cast<double>(count)); }
std::string bytes_text(std::uint64_t bytes) { return fmt::format("{:.3g} MB", 1e-6 * static_cast<double>(bytes)); }

// The first bytes of a file, fewer where it is shorter.
std::string beginning(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw Error(fmt::format("{}: is a folder", path.string()));
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(64, '\0');
  const ssize_t count = file.is_open() ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  if (count < 0) throw Error(fmt::format("{}: cannot be read: {}", path.string(), std::generic_category().message(errno)));
  bytes.resize(static_cast<std::size_t>(count));
  if (bytes.empty()) throw Error(fmt::format("{}: is empty", path.string()));
  return bytes;
}

// Eight bytes of a length below 2^32, then JSON.
bool looks_like_safetensors(const std::string& bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && std::all_of(bytes.begin() + 4, bytes.begin() + 8, [](char c) { return c == 0; });
}

bool looks_like_json(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string::npos && bytes[first] == '{';
}

void describe_checkpoint(const std::filesystem::path& path, VerifiedFile& verified) {
  const Checkpoint checkpoint = load_checkpoint(path);
  verified.kind = "checkpoint";
  verified.facts.emplace_back("networks", count_text(checkpoint.ensemble.members.size()));
  std::uint64_t steps = 0;
  for (const MemberProgress& member : checkpoint.state.members) steps = std::max<std::uint64_t>(steps, member.step);
  verified.facts.emplace_back("training", fmt::format("{} steps taken", count_text(steps)));
}

void describe_model(const std::filesystem::path& path, VerifiedFile& verified) {
  const FieldModel model = load_field_model(path);
  verified.kind = "model";
  for (const Part& part : parts_of(model)) {
    const PartWords words = part.words();
    verified.facts.emplace_back(words.kind, words.detail);
  }
  const VariableInfo& value = model.info.value;
  verified.facts.emplace_back("value", value.unit.empty() ? value.name : fmt::format("{} [{}]", value.name, value.unit));
  verified.facts.emplace_back("trained on", fmt::format("{} observations", count_text(model.info.training)));
}

VerifiedFile verify_safetensors(const std::filesystem::path& path, const Control& control) {
  const SafetensorsFile file(path);
  file.check_data(control);
  VerifiedFile verified;
  verified.has_checksums = file.has_checksums();
  const auto metadata = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string("?") : found->second;
  };
  file.metadata().contains("recipe") ? describe_checkpoint(path, verified) : describe_model(path, verified);
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors()) bytes += tensor.end - tensor.begin;
  verified.facts.emplace_back("tensors", fmt::format("{}, {}", count_text(file.tensors().size()), bytes_text(bytes)));
  verified.facts.emplace_back("format",
                              fmt::format("{}, written by drift {}", metadata("format_version"), metadata("drift_version")));
  return verified;
}

VerifiedFile verify_study(const std::filesystem::path& path) {
  const Study study = load_study(path);
  VerifiedFile verified = {"study", false, {}};
  std::string names;
  for (const Setting& setting : study.space) names += (names.empty() ? "" : ", ") + setting.name;
  verified.facts.emplace_back("settings", names);
  const auto done =
      std::count_if(study.trials.begin(), study.trials.end(), [](const Trial& trial) { return trial.state == TrialState::done; });
  verified.facts.emplace_back("trials", fmt::format("{}, {} done", count_text(study.trials.size()), done));
  if (const auto best = best_trial(study)) verified.facts.emplace_back("best", fmt::format("trial {}", *best));
  return verified;
}

void read_all(const std::filesystem::path& path) {
  const NcReader file(path);
  for (const NcVariable& variable : file.variables()) {
    if (variable.is_number()) file.read_through(variable);
  }
}

// Throws Error for damage; by a child process where HDF5 reads it, which damage may crash or hang.
void check_data(const std::filesystem::path& path, const Control& control) {
  constexpr double kLeastMegabytesPerS = 1.0;
  if (!is_hdf5(path)) return read_all(path);
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(path));
  check_guarded(path, kOpenLimitS + megabytes / kLeastMegabytesPerS, read_all, control);
}

VerifiedFile verify_netcdf(const std::filesystem::path& path, const Control& control) {
  const NcReader file = open_guarded(path, kOpenLimitS, control);
  const std::string source = file.text("source").value_or("");
  if (!source.starts_with("drift ")) {
    throw Error(fmt::format("{}: is a NetCDF file but not of drift; drift inspect shows what it holds", path.string()));
  }
  check_data(path, control);
  VerifiedFile verified = {file.text("cdm_data_type").value_or("") == "Grid" ? "map" : "observations", true, {}};
  std::string names;
  for (const NcVariable& variable : file.variables()) {
    const bool axis = variable.dimensions.size() < 2 || variable.name.ends_with("_bounds");
    if (axis && verified.kind == "map") continue;  // short and in one piece, where HDF5 has no checksums
    names += (names.empty() ? "" : ", ") + variable.name;
    if (variable.is_number()) verified.has_checksums = verified.has_checksums && file.has_checksums(variable);
  }
  verified.facts.emplace_back("variables", names);
  verified.facts.emplace_back("written by", source);
  return verified;
}

}  // namespace

VerifiedFile verify_file(const std::filesystem::path& path, const Control& control) {
  control.check_stop();
  const std::string bytes = beginning(path);
  if (looks_like_netcdf(path)) return verify_netcdf(path, control);
  if (looks_like_safetensors(bytes)) return verify_safetensors(path, control);
  if (looks_like_json(bytes)) return verify_study(path);
  if (path.extension() == ".toml") {
    check(read_run_file(path));
    return {"run file", false, {}};
  }
  throw Error(fmt::format("{}: was not written by drift: it is no model, checkpoint, study, map or run file", path.string()));
}

}  // namespace drift
