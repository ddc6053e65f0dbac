#include "drift/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/parse_json.h"
#include "drift/error.h"

namespace drift {
namespace {

template <class Real>
bool all_finite(const std::vector<Real>& numbers) {
  if constexpr (std::is_floating_point_v<Real>)
    return std::all_of(numbers.begin(), numbers.end(), [](Real number) { return std::isfinite(number); });
  else
    return true;
}

const char* type_name(const State::Numbers& numbers) {
  constexpr std::array<const char*, 3> kNames = {"float32", "float64", "int64"};
  return kNames.at(numbers.index());
}

// As an extent that is not checked is written.
std::string shape_text(std::span<const std::size_t> shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    if (!text.empty()) text += ", ";
    text += extent == State::kAny ? "any" : fmt::format("{}", extent);
  }
  return "[" + text + "]";
}

template <class Map>
const typename Map::mapped_type& entry(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end()) throw Error(fmt::format("the method's state lacks the {} \"{}\"", what, name));
  return found->second;
}

}  // namespace

void State::put(const std::string& name, std::vector<std::size_t> shape, Numbers numbers) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  const auto [size, finite] = std::visit([](const auto& list) { return std::pair(list.size(), all_finite(list)); }, numbers);
  if (count != size) throw Error(fmt::format("tensor \"{}\" has shape {} but {} numbers", name, shape_text(shape), size));
  if (!finite) throw Error(fmt::format("tensor \"{}\" of the method's state has an entry that is not a finite number", name));
  if (!tensors_.emplace(name, Tensor{std::move(shape), std::move(numbers)}).second)
    throw Error(fmt::format("the method's state has two tensors \"{}\"", name));
}

void State::put(const std::string& name, double number) {
  if (!std::isfinite(number)) throw Error(fmt::format("\"{}\" of the method's state is {}", name, number));
  numbers_.insert_or_assign(name, number);
}

void State::put(const std::string& name, std::string text) { texts_.insert_or_assign(name, std::move(text)); }

bool State::has(const std::string& name) const { return tensors_.contains(name); }

const std::vector<std::size_t>& State::shape(const std::string& name, std::size_t dimensions) const {
  const Tensor& found = entry(tensors_, name, "tensor");
  if (found.shape.size() != dimensions) {
    throw Error(
        fmt::format("tensor \"{}\" has shape {} but {} dimensions are expected", name, shape_text(found.shape), dimensions));
  }
  return found.shape;
}

template <class Real>
std::span<const Real> State::tensor(const std::string& name, std::span<const std::size_t> shape) const {
  const Tensor& found = entry(tensors_, name, "tensor");
  const auto* numbers = std::get_if<std::vector<Real>>(&found.numbers);
  if (numbers == nullptr) {
    throw Error(fmt::format("tensor \"{}\" is of {} but {} is wanted", name, type_name(found.numbers),
                            type_name(Numbers(std::vector<Real>()))));
  }
  const auto fits = [](std::size_t wanted, std::size_t is) { return wanted == kAny || wanted == is; };
  if (!std::equal(shape.begin(), shape.end(), found.shape.begin(), found.shape.end(), fits)) {
    throw Error(fmt::format("tensor \"{}\" has shape {} but {} is wanted", name, shape_text(found.shape), shape_text(shape)));
  }
  return *numbers;
}

double State::number(const std::string& name, double low, double high) const {
  const double number = entry(numbers_, name, "number");
  if (!(number >= low && number <= high))
    throw Error(fmt::format("\"{}\" of the method's state is {}, not from {:g} to {:g}", name, number, low, high));
  return number;
}

std::size_t State::count(const std::string& name, std::size_t low, std::size_t high) const {
  const double value = number(name, static_cast<double>(low), static_cast<double>(high));
  if (value != std::floor(value)) throw Error(fmt::format("\"{}\" of the method's state is {}, not a whole number", name, value));
  return static_cast<std::size_t>(value);
}

const std::string& State::text(const std::string& name) const { return entry(texts_, name, "text"); }

std::string State::metadata() const { return nlohmann::ordered_json{{"numbers", numbers_}, {"texts", texts_}}.dump(); }

void State::set_metadata(const std::string& json) {
  const auto refuse = [] { throw Error("the metadata of the method's state cannot be read"); };
  const nlohmann::json read = parse_json(json, "the metadata of the method's state");
  if (!read.is_object() || !read.contains("numbers") || !read.contains("texts")) refuse();
  if (!read["numbers"].is_object() || !read["texts"].is_object()) refuse();
  for (const auto& [name, value] : read["numbers"].items()) {
    if (!value.is_number()) refuse();
    put(name, value.get<double>());
  }
  for (const auto& [name, value] : read["texts"].items()) {
    if (!value.is_string()) refuse();
    put(name, value.get<std::string>());
  }
}

template std::span<const float> State::tensor<float>(const std::string&, std::span<const std::size_t>) const;
template std::span<const double> State::tensor<double>(const std::string&, std::span<const std::size_t>) const;
template std::span<const std::int64_t> State::tensor<std::int64_t>(const std::string&, std::span<const std::size_t>) const;

}  // namespace drift
