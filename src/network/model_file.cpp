#include "network/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <string_view>

#include "drift/error.h"
#include "drift/parse_number.h"
#include "drift/version.h"
#include "network/draw.h"
#include "network/plan.h"

namespace drift {
namespace {

constexpr const char* kFormat = "drift-model";
constexpr std::uint64_t kFormatVersion = 9;  // the newest that is read

// Version that a model is written as: the oldest that has all it needs.
std::uint64_t format_version_of(const NetworkSpec& spec, bool variational) {
  if (spec.coupling == Coupling::product) return 4;
  return spec.dense ? 3 : variational ? 2 : 1;
}

constexpr std::string_view kUserPrefix = "user.";
constexpr std::string_view kMemberPrefix = "member.";
constexpr float kUnitTolerance = 1e-5f;  // of a pole's length: float32 rounding of three entries is 1e-7

std::string tensor_name(std::size_t place, const TensorInfo& tensor) {
  return fmt::format("{}{}.{}", kMemberPrefix, place, tensor.name);
}

// Of variational weights. The hyperparameters have none.
std::string log_sd_name(std::size_t place, const TensorInfo& tensor) {
  return fmt::format("{}{}.log_sd.{}", kMemberPrefix, place, tensor.name);
}

std::vector<TensorInfo> variational_tensors(const Plan& plan) {
  std::vector<TensorInfo> tensors = plan.parameter_tensors;
  std::erase_if(tensors, [&](const TensorInfo& tensor) { return tensor.offset >= plan.hyper; });
  return tensors;
}

std::optional<std::size_t> first_not_finite(std::span<const float> numbers) {
  const auto found = std::find_if(numbers.begin(), numbers.end(), [](float number) { return !std::isfinite(number); });
  if (found == numbers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - numbers.begin());
}

using TensorNames = std::string (*)(std::size_t place, const TensorInfo& tensor);

void add_tensors(std::size_t place, const std::vector<TensorInfo>& tensors, const std::vector<float>& numbers,
                 std::vector<TensorSource>& sources, TensorNames name_of = tensor_name) {
  for (const TensorInfo& tensor : tensors) {
    const std::span<const float> data(numbers.data() + tensor.offset, tensor.size());
    const std::string name = name_of(place, tensor);
    if (const auto entry = first_not_finite(data)) {
      throw Error(fmt::format("the ensemble cannot be saved: entry {} of {} is not a finite number; lower the learning rate",
                              *entry, name));
    }
    sources.push_back({name, tensor.shape, data});
  }
}

// Metadata of the header.
struct Description {
  NetworkSpec spec;
  std::uint64_t seed;
  std::vector<std::uint32_t> members;
};

const std::string& metadata_of(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) file.fail(fmt::format("its metadata lack \"{}\"", key));
  return found->second;
}

void check_format(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kFormat) {
    file.fail("is a safetensors file but not a drift model");
  }
  const std::string& text = metadata_of(file, "format_version");
  const auto version_number = parse_number<std::uint64_t>(text);
  if (!version_number || *version_number == 0)
    file.fail(fmt::format("its format_version is \"{}\", not a whole number from 1", text));
  if (*version_number > kFormatVersion) {
    file.fail(fmt::format("was written by drift {}, which is newer than this one ({}): update drift",
                          metadata_of(file, "drift_version"), version()));
  }
}

std::vector<std::uint32_t> read_members(const SafetensorsFile& file) {
  std::vector<std::uint32_t> members;
  std::string_view rest = metadata_of(file, "members");
  if (rest.empty()) return members;  // a process alone
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto index = parse_number<std::uint32_t>(rest.substr(0, comma));
    if (!index)
      file.fail(fmt::format("its members are \"{}\", not whole numbers with commas between",
                            metadata_of(file, "members").substr(0, 60)));
    members.push_back(*index);
    if (comma == std::string_view::npos) return members;
    rest.remove_prefix(comma + 1);
  }
}

Description read_description(const SafetensorsFile& file) {
  check_format(file);
  Description description;
  const std::string& spec = metadata_of(file, "spec");
  try {
    description.spec = network_spec_from_json(spec);
  } catch (const UsageError& error) {
    file.fail(fmt::format("its network is invalid: {}", error.what()));
  } catch (const Error& error) {
    file.fail(error.what());
  }
  const std::string& seed = metadata_of(file, "seed");
  const auto seed_number = parse_number<std::uint64_t>(seed);
  if (!seed_number) file.fail(fmt::format("its seed is \"{}\", not a whole number", seed.substr(0, 60)));
  description.seed = *seed_number;
  description.members = read_members(file);
  return description;
}

Plan plan_of(const SafetensorsFile& file, const NetworkSpec& spec) {
  try {
    return make_plan(spec);
  } catch (const UsageError& error) {
    file.fail(error.what());
  }
}

// Before anything large is allocated: the file holds every tensor of every member, and so as many bytes as they will take.
void check_tensors(const SafetensorsFile& file, const Plan& plan, std::size_t members, bool variational) {
  const std::vector<TensorInfo> log_sds = variational ? variational_tensors(plan) : std::vector<TensorInfo>();
  for (std::size_t place = 0; place < members; ++place) {
    for (const TensorInfo& tensor : plan.fixed_tensors) file.expect(tensor_name(place, tensor), tensor.shape);
    for (const TensorInfo& tensor : plan.parameter_tensors) file.expect(tensor_name(place, tensor), tensor.shape);
    for (const TensorInfo& tensor : log_sds) file.expect(log_sd_name(place, tensor), tensor.shape);
  }
  const std::size_t wanted = members * (plan.fixed_tensors.size() + plan.parameter_tensors.size() + log_sds.size());
  const auto found = std::count_if(file.tensors().begin(), file.tensors().end(),
                                   [](const auto& tensor) { return tensor.first.starts_with(kMemberPrefix); });
  if (static_cast<std::size_t>(found) != wanted) {
    file.fail(fmt::format("has {} tensors of members but {} members of this network have {}", found, members, wanted));
  }
}

void read_tensors(const SafetensorsFile& file, std::size_t place, const std::vector<TensorInfo>& tensors,
                  std::vector<float>& numbers, TensorNames name_of = tensor_name) {
  for (const TensorInfo& tensor : tensors) {
    const std::string name = name_of(place, tensor);
    const std::span<float> out(numbers.data() + tensor.offset, tensor.size());
    file.read(name, tensor.shape, out);
    if (const auto entry = first_not_finite(out)) {
      file.fail(fmt::format("is corrupt: entry {} of tensor \"{}\" is not a finite number", *entry, name));
    }
  }
}

// Engines take degrees as indices and poles as unit vectors.
void check_spherical(const SafetensorsFile& file, const LayerPlan& layer, std::size_t place, const std::vector<float>& fixed,
                     int max_degree) {
  const std::size_t features = static_cast<std::size_t>(layer.features);
  for (std::size_t i = 0; i < features; ++i) {
    const float degree = fixed[layer.degrees + i];
    if (!(degree >= 0.0f && degree <= static_cast<float>(max_degree) && degree == std::floor(degree))) {
      file.fail(fmt::format("is corrupt: entry {} of tensor \"{}{}.{}.degrees\" is {}, not a whole number from 0 to {}", i,
                            kMemberPrefix, place, layer.name, degree, max_degree));
    }
    const float* pole = fixed.data() + layer.poles + i;
    const float length = std::hypot(pole[0], pole[features], pole[2 * features]);
    if (!(std::abs(length - 1.0f) <= kUnitTolerance)) {
      file.fail(fmt::format("is corrupt: column {} of tensor \"{}{}.{}.poles\" has length {}, not 1", i, kMemberPrefix, place,
                            layer.name, length));
    }
  }
}

Member read_member(const SafetensorsFile& file, const Plan& plan, std::size_t place, std::uint32_t index, int max_degree,
                   bool variational) {
  Member member;
  member.index = index;
  member.fixed.assign(plan.fixed_size, 0.0f);
  member.parameters.assign(plan.parameter_size, 0.0f);
  read_tensors(file, place, plan.fixed_tensors, member.fixed);
  read_tensors(file, place, plan.parameter_tensors, member.parameters);
  if (variational) {
    member.log_sd.assign(plan.parameter_size, 0.0f);
    read_tensors(file, place, variational_tensors(plan), member.log_sd, log_sd_name);
  }
  for (const LayerPlan& layer : plan.layers) {
    if (layer.sphere) check_spherical(file, layer, place, member.fixed, max_degree);
  }
  return member;
}

}  // namespace

ModelParts model_parts(const Ensemble& ensemble, const Metadata& metadata) {
  const Plan plan = make_plan(ensemble.spec);
  const bool variational = !ensemble.members.empty() && !ensemble.members.front().log_sd.empty();
  ModelParts parts;
  std::vector<std::uint32_t> indices;
  for (std::size_t place = 0; place < ensemble.members.size(); ++place) {
    const Member& member = ensemble.members[place];
    if (member.fixed.size() != plan.fixed_size || member.parameters.size() != plan.parameter_size) {
      throw UsageError(
          fmt::format("the ensemble cannot be saved: member {} has {} fixed numbers and {} parameters but its spec {} and {}",
                      place, member.fixed.size(), member.parameters.size(), plan.fixed_size, plan.parameter_size));
    }
    if (member.log_sd.size() != (variational ? plan.parameter_size : 0)) {
      throw UsageError(fmt::format("the ensemble cannot be saved: member {} has {} log sds of {} variational weights", place,
                                   member.log_sd.size(), variational ? plan.parameter_size : 0));
    }
    add_tensors(place, plan.fixed_tensors, member.fixed, parts.tensors);
    add_tensors(place, plan.parameter_tensors, member.parameters, parts.tensors);
    if (variational) add_tensors(place, variational_tensors(plan), member.log_sd, parts.tensors, log_sd_name);
    indices.push_back(member.index);
  }
  parts.metadata = {{"format", kFormat},
                    {"format_version", fmt::format("{}", format_version_of(ensemble.spec, variational))},
                    {"drift_version", version()},
                    {"spec", to_json(ensemble.spec)},
                    {"seed", fmt::format("{}", ensemble.seed)},
                    {"members", fmt::format("{}", fmt::join(indices, ","))}};
  for (const auto& [key, text] : metadata) parts.metadata.emplace(std::string(kUserPrefix) + key, text);
  return parts;
}

Model read_model(const SafetensorsFile& file) {
  const Description description = read_description(file);
  const Plan plan = plan_of(file, description.spec);
  const bool variational = file.tensors().contains(log_sd_name(0, plan.parameter_tensors.front()));
  check_tensors(file, plan, description.members.size(), variational);
  const bool sphere = std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
  const int max_degree = sphere ? sphere_spectrum(plan).max_degree() : 0;
  Model model;
  model.ensemble.spec = description.spec;
  model.ensemble.seed = description.seed;
  for (std::size_t place = 0; place < description.members.size(); ++place) {
    model.ensemble.members.push_back(read_member(file, plan, place, description.members[place], max_degree, variational));
  }
  for (const auto& [key, text] : file.metadata()) {
    if (key.starts_with(kUserPrefix)) model.metadata.emplace(key.substr(kUserPrefix.size()), text);
  }
  return model;
}

void save_model(const std::filesystem::path& path, const Ensemble& ensemble, const Metadata& metadata) {
  if (ensemble.members.empty()) throw UsageError("the ensemble cannot be saved: it has no members");
  const ModelParts parts = model_parts(ensemble, metadata);
  write_safetensors(path, parts.tensors, parts.metadata);
}

Model load_model(const std::filesystem::path& path) {
  try {
    return read_model(SafetensorsFile(path));
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: there is not enough memory for this model", path.string()));
  }
}

}  // namespace drift
