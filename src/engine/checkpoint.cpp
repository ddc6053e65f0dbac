// A checkpoint is a model file (network/model_file.h) with more in it:
//   tensors   "training.<place>.moment1", ".moment2" [parameters, then log sds] and ".losses" [steps], the numbers as they lie in
//   memory metadata  "recipe" (JSON) and "training.steps" (steps taken by each member: "120,120,119")

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <string_view>

#include "drift/engine.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "engine/shapes.h"
#include "network/model_file.h"

namespace drift {
namespace {

constexpr const char* kRecipeKey = "recipe";
constexpr const char* kStepsKey = "training.steps";

std::string tensor_name(std::size_t place, const char* what) { return fmt::format("training.{}.{}", place, what); }

void check_losses(const TrainingState& state) {
  for (std::size_t place = 0; place < state.members.size(); ++place) {
    const MemberProgress& member = state.members[place];
    if (member.losses.size() == member.step) continue;
    throw UsageError(fmt::format("the checkpoint cannot be saved: member {} has taken {} steps but has {} losses", place,
                                 member.step, member.losses.size()));
  }
}

std::vector<std::uint64_t> read_steps(const SafetensorsFile& file, std::size_t members) {
  const std::string& text = file.metadata().at(kStepsKey);
  const auto steps = parse_numbers<std::uint64_t>(text, ',', members);
  if (!steps) {
    file.fail(fmt::format("is corrupt: {} is \"{}\" but must be {} whole numbers with commas between", kStepsKey,
                          text.substr(0, 60), members));
  }
  return *steps;
}

Recipe read_recipe(const SafetensorsFile& file) {
  try {
    return recipe_from_json(file.metadata().at(kRecipeKey));
  } catch (const Error& error) {
    file.fail(error.what());
  }
}

// Tells what is wrong before it allocates: `size` may be a corrupt number.
std::vector<float> read_vector(const SafetensorsFile& file, const std::string& name, std::size_t size) {
  const std::array<std::size_t, 1> shape = {size};
  file.expect(name, shape);
  std::vector<float> numbers(size);
  file.read(name, shape, numbers);
  const auto not_finite = std::find_if(numbers.begin(), numbers.end(), [](float number) { return !std::isfinite(number); });
  if (not_finite != numbers.end()) {
    file.fail(fmt::format("is corrupt: entry {} of tensor \"{}\" is not a finite number", not_finite - numbers.begin(), name));
  }
  return numbers;
}

Checkpoint read_checkpoint(const SafetensorsFile& file) {
  Checkpoint checkpoint;
  Model model = read_model(file);
  checkpoint.ensemble = std::move(model.ensemble);
  checkpoint.metadata = std::move(model.metadata);
  if (!file.metadata().contains(kRecipeKey) || !file.metadata().contains(kStepsKey)) {
    file.fail("is a model but not a checkpoint: it holds no training state to resume from");
  }
  checkpoint.recipe = read_recipe(file);
  const std::vector<std::uint64_t> steps = read_steps(file, checkpoint.ensemble.members.size());
  for (std::size_t place = 0; place < steps.size(); ++place) {
    const std::size_t numbers = trained_numbers(checkpoint.ensemble.members[place]);
    MemberProgress member;
    member.step = steps[place];
    member.moment1 = read_vector(file, tensor_name(place, "moment1"), numbers);
    member.moment2 = read_vector(file, tensor_name(place, "moment2"), numbers);
    member.losses = read_vector(file, tensor_name(place, "losses"), member.step);
    checkpoint.state.members.push_back(std::move(member));
  }
  return checkpoint;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Ensemble& ensemble, const TrainingState& state,
                     const Recipe& recipe, const Metadata& metadata) {
  check_shapes(ensemble, state);
  check_losses(state);
  ModelParts parts = model_parts(ensemble, metadata);
  std::vector<std::uint64_t> steps;
  for (std::size_t place = 0; place < state.members.size(); ++place) {
    const MemberProgress& member = state.members[place];
    steps.push_back(member.step);
    parts.tensors.push_back({tensor_name(place, "moment1"), {member.moment1.size()}, member.moment1});
    parts.tensors.push_back({tensor_name(place, "moment2"), {member.moment2.size()}, member.moment2});
    parts.tensors.push_back({tensor_name(place, "losses"), {member.losses.size()}, member.losses});
  }
  parts.metadata[kRecipeKey] = to_json(recipe);
  parts.metadata[kStepsKey] = fmt::format("{}", fmt::join(steps, ","));
  write_safetensors(path, parts.tensors, parts.metadata);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  try {
    return read_checkpoint(SafetensorsFile(path));
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: there is not enough memory for this checkpoint", path.string()));
  }
}

}  // namespace drift
