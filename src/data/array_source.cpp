#include "data/array_source.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "drift/error.h"

namespace drift {
namespace {

int nc_type(const ArrayFile& arrays, const ArrayVariable& variable) {
  constexpr std::array<std::pair<std::string_view, int>, 11> kTypes = {{{"float64", NC_DOUBLE},
                                                                        {"float32", NC_FLOAT},
                                                                        {"int8", NC_BYTE},
                                                                        {"int16", NC_SHORT},
                                                                        {"int32", NC_INT},
                                                                        {"int64", NC_INT64},
                                                                        {"uint8", NC_UBYTE},
                                                                        {"uint16", NC_USHORT},
                                                                        {"uint32", NC_UINT},
                                                                        {"uint64", NC_UINT64},
                                                                        {"str", NC_STRING}}};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == variable.type; });
  if (found != kTypes.end()) return found->second;
  throw UsageError(fmt::format("{}: variable '{}' has the unknown type '{}'", arrays.name, variable.name, variable.type));
}

const ArrayAttribute* find_in(const ArrayAttributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

std::optional<std::string> text_in(const ArrayAttributes& attributes, const std::string& name) {
  const ArrayAttribute* const found = find_in(attributes, name);
  return found == nullptr || !found->numbers.empty() ? std::nullopt : std::optional(found->text);
}

std::vector<double> numbers_in(const ArrayAttributes& attributes, const std::string& name) {
  const ArrayAttribute* const found = find_in(attributes, name);
  return found == nullptr ? std::vector<double>() : found->numbers;
}

void check_size(const NcSource& source, const NcVariable& variable, std::size_t entries) {
  if (entries == variable.size()) return;
  throw UsageError(fmt::format("{}: variable '{}' has {} entries, but its dimensions make {}", source.path().string(),
                               variable.name, entries, variable.size()));
}

}  // namespace

ArraySource::ArraySource(const ArrayFile& arrays) : NcSource(arrays.name), arrays_(arrays) {
  for (const ArrayVariable& array : arrays.variables) {
    NcVariable variable = {array.name, 0, static_cast<int>(variables().size()), nc_type(arrays, array), {}};
    for (const std::string& name : array.dimensions) {
      const auto found = arrays.lengths.find(name);
      if (found == arrays.lengths.end())
        throw UsageError(fmt::format("{}: the dimension '{}' of variable '{}' has no length", arrays.name, name, array.name));
      variable.dimensions.push_back({name, static_cast<int>(std::distance(arrays.lengths.begin(), found)), found->second});
    }
    add(std::move(variable));
  }
}

const ArrayVariable& ArraySource::array_of(const NcVariable& variable) const {
  return arrays_.variables[static_cast<std::size_t>(variable.id)];
}

std::optional<std::string> ArraySource::text(const std::string& attribute) const {
  return text_in(arrays_.attributes, attribute);
}

std::optional<std::string> ArraySource::text(const NcVariable& variable, const std::string& attribute) const {
  return text_in(array_of(variable).attributes, attribute);
}

std::vector<double> ArraySource::numbers(const std::string& attribute) const { return numbers_in(arrays_.attributes, attribute); }

std::vector<double> ArraySource::numbers(const NcVariable& variable, const std::string& attribute) const {
  return numbers_in(array_of(variable).attributes, attribute);
}

std::vector<std::string> ArraySource::attribute_names(const NcVariable& variable) const {
  std::vector<std::string> names;
  for (const auto& [name, attribute] : array_of(variable).attributes) names.push_back(name);
  return names;
}

int ArraySource::type_of(const NcVariable& variable, const std::string& attribute) const {
  const ArrayAttribute* const found = find_in(array_of(variable).attributes, attribute);
  if (found == nullptr) return NC_NAT;
  return found->numbers.empty() ? NC_CHAR : found->whole_numbers ? NC_INT64 : NC_DOUBLE;
}

const std::vector<double>& ArraySource::loaded(const NcVariable& variable) const {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = loaded_.try_emplace(variable.id);
  if (is_new) {
    place->second = array_of(variable).numbers();
    check_size(*this, variable, place->second.size());
  }
  return place->second;
}

void ArraySource::read_stored(const NcVariable& variable, std::span<const std::size_t> start, std::span<const std::size_t> count,
                              std::span<double> out) const {
  const std::vector<double>& from = loaded(variable);
  const std::size_t rank = variable.dimensions.size();
  const std::size_t run = rank == 0 ? 1 : count[rank - 1];  // entries in one piece
  std::vector<std::size_t> at(start.begin(), start.end());
  for (std::size_t to = 0; to < out.size(); to += run) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < rank; ++d) place = place * variable.dimensions[d].length + at[d];
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(place), run, out.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t d = rank; d-- > 1;) {  // d - 1 is the next slower dimension
      if (++at[d - 1] < start[d - 1] + count[d - 1]) break;
      at[d - 1] = start[d - 1];
    }
  }
}

std::vector<std::string> ArraySource::read_text(const NcVariable& variable) const {
  std::vector<std::string> texts = array_of(variable).texts();
  check_size(*this, variable, texts.size());
  return texts;
}

}  // namespace drift
