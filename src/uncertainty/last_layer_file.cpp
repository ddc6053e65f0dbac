#include "uncertainty/last_layer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "drift/error.h"

namespace drift {
namespace {

std::string tensor_name(std::size_t place, const char* what) { return fmt::format("last_layer.{}.{}", place, what); }

std::vector<float> read_matrix(const SafetensorsFile& file, const std::string& name, std::size_t rows, std::size_t cols) {
  const std::array<std::size_t, 2> shape = {rows, cols};
  file.expect(name, shape);
  std::vector<float> numbers(rows * cols);
  file.read(name, shape, numbers);
  if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); })) {
    file.fail(fmt::format("is corrupt: an entry of tensor \"{}\" is not a finite number", name));
  }
  return numbers;
}

std::vector<LastLayerPosterior> read_posteriors(const SafetensorsFile& file, const Ensemble& ensemble) {
  if (!file.tensors().contains(tensor_name(0, "mean"))) return {};
  std::vector<LastLayerPosterior> posteriors;
  for (std::size_t place = 0; place < ensemble.members.size(); ++place) {
    LastLayerPosterior& posterior = posteriors.emplace_back();
    posterior.inputs = head_input_count(ensemble.spec);
    posterior.outputs = static_cast<std::size_t>(ensemble.spec.outputs);
    posterior.mean = read_matrix(file, tensor_name(place, "mean"), posterior.inputs, posterior.outputs);
    posterior.inverse_factor = read_matrix(file, tensor_name(place, "inverse_factor"), posterior.inputs, posterior.inputs);
  }
  return posteriors;
}

}  // namespace

void add_last_layers(ModelParts& file, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors) {
  if (posteriors.size() != ensemble.members.size()) {
    throw UsageError(fmt::format("the model cannot be saved: {} posteriors of last layers for {} members", posteriors.size(),
                                 ensemble.members.size()));
  }
  for (std::size_t place = 0; place < posteriors.size(); ++place) {
    const LastLayerPosterior& posterior = posteriors[place];
    file.tensors.push_back({tensor_name(place, "mean"), {posterior.inputs, posterior.outputs}, posterior.mean});
    file.tensors.push_back(
        {tensor_name(place, "inverse_factor"), {posterior.inputs, posterior.inputs}, posterior.inverse_factor});
  }
}

std::vector<LastLayerPosterior> load_last_layers(const std::filesystem::path& path, const Ensemble& ensemble) {
  try {
    return read_posteriors(SafetensorsFile(path), ensemble);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: there is not enough memory for this model", path.string()));
  }
}

}  // namespace drift
