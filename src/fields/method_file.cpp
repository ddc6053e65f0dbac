#include "fields/method_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/json_fields.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr const char* kMethodKey = "method";
constexpr const char* kPrefix = "method.";
constexpr const char* kFormatWithMethod = "6";

// Contents of the metadata.
struct MethodHeader {
  std::string text;   // the method's
  std::string state;  // its numbers and texts, JSON
  bool own_noise = false;
};

}  // namespace

template <class Self>
requires ConstOrNot<Self, MethodHeader>
void visit_fields(Self& self, auto&& field) {
  field("text", self.text);
  field("state", self.state);
  field("own_noise", self.own_noise);
}

namespace {

template <class Number>
std::vector<Number> read_numbers(const SafetensorsFile& file, const std::string& name, const TensorEntry& entry) {
  // As many as the file has bytes for: its header was checked against its size.
  std::vector<Number> numbers((entry.end - entry.begin) / sizeof(Number));
  file.read(name, entry.shape, std::span<Number>(numbers));
  return numbers;
}

State::Numbers numbers_of(const SafetensorsFile& file, const std::string& name, const TensorEntry& entry) {
  if (entry.dtype == "F32") return read_numbers<float>(file, name, entry);
  if (entry.dtype == "F64") return read_numbers<double>(file, name, entry);
  if (entry.dtype == "I64") return read_numbers<std::int64_t>(file, name, entry);
  file.fail(fmt::format("is corrupt: tensor \"{}\" is of {}", name, entry.dtype));
}

}  // namespace

MethodTensors::MethodTensors(const Interpolator& method, const std::string& text, bool own_noise) {
  method.save(state_);
  metadata_ = write_json(MethodHeader{text, state_.metadata(), own_noise}).dump();
}

void MethodTensors::add_to(ModelParts& parts) const {
  parts.metadata.insert_or_assign(kMethodKey, metadata_);
  parts.metadata.insert_or_assign("format_version", std::string(kFormatWithMethod));
  for (const auto& [name, tensor] : state_.tensors()) {
    TensorSource source = {kPrefix + name, tensor.shape, std::span<const float>()};
    std::visit(
        [&](const auto& numbers) {
          source.data = std::span<const typename std::remove_cvref_t<decltype(numbers)>::value_type>(numbers);
        },
        tensor.numbers);
    parts.tensors.push_back(std::move(source));
  }
}

StoredMethod read_method(const SafetensorsFile& file, const Domain& domain) {
  const auto found = file.metadata().find(kMethodKey);
  if (found == file.metadata().end()) return {};
  try {
    const MethodHeader header = JsonReader("method").parse<MethodHeader>(found->second);
    State state;
    state.set_metadata(header.state);
    for (const auto& [name, entry] : file.tensors()) {
      if (name.starts_with(kPrefix))
        state.put(name.substr(std::string_view(kPrefix).size()), entry.shape, numbers_of(file, name, entry));
    }
    return {load_interpolator(header.text, state, domain), header.text, header.own_noise};
  } catch (const std::exception& error) {  // a UsageError of a text that cannot be is the file's fault here
    const std::string what = error.what();
    if (what.starts_with(file.path().string())) throw Error(what);
    file.fail(fmt::format("is corrupt: {}", what));
  }
}

}  // namespace drift
