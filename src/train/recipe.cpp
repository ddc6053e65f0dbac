#include "drift/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/nearest_name.h"
#include "drift/error.h"

namespace drift {
namespace {

template <class Enum>
using EnumNames = std::span<const std::pair<Enum, std::string_view>>;

constexpr std::array<std::pair<LossKind, std::string_view>, 2> kLossNames = {
    {{LossKind::squared, "squared"}, {LossKind::huber, "huber"}}};
constexpr std::array<std::pair<Optimiser, std::string_view>, 2> kOptimiserNames = {
    {{Optimiser::adam, "adam"}, {Optimiser::muon, "muon"}}};
constexpr std::array<std::pair<Schedule, std::string_view>, 2> kScheduleNames = {
    {{Schedule::constant, "constant"}, {Schedule::cosine, "cosine"}}};

EnumNames<LossKind> names_of(LossKind) { return kLossNames; }
EnumNames<Optimiser> names_of(Optimiser) { return kOptimiserNames; }
EnumNames<Schedule> names_of(Schedule) { return kScheduleNames; }

// The one list of the fields: visit(key, field) for each, in the order of the header. `R` is Recipe or const Recipe.
template <class R, class Visit>
void for_each_field(R& recipe, Visit&& visit) {
  visit("loss", recipe.loss);
  visit("huber_delta", recipe.huber_delta);
  visit("noise_sd", recipe.noise_sd);
  visit("beta", recipe.beta);
  visit("optimiser", recipe.optimiser);
  visit("rate", recipe.rate);
  visit("muon_rate", recipe.muon_rate);
  visit("adam_beta1", recipe.adam_beta1);
  visit("adam_beta2", recipe.adam_beta2);
  visit("adam_epsilon", recipe.adam_epsilon);
  visit("muon_momentum", recipe.muon_momentum);
  visit("muon_iterations", recipe.muon_iterations);
  visit("schedule", recipe.schedule);
  visit("warmup_steps", recipe.warmup_steps);
  visit("epochs", recipe.epochs);
  visit("batch", recipe.batch);
  visit("train_lengthscales", recipe.train_lengthscales);
  visit("train_amplitudes", recipe.train_amplitudes);
  visit("hyper_rate", recipe.hyper_rate);
}

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  const Recipe recipe;
  for_each_field(recipe, [&](std::string_view key, const auto&) { names.push_back(key); });
  return names;
}

// A field as JSON. `beta` that is not given is null.
template <class T>
nlohmann::ordered_json write_field(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [value, name] : names_of(field)) {
      if (value == field) return name;
    }
    throw UsageError(fmt::format("recipe: an enumeration holds {}, which has no name", static_cast<int>(field)));
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return field ? nlohmann::ordered_json(*field) : nlohmann::ordered_json(nullptr);
  } else {
    return field;
  }
}

[[noreturn]] void refuse(std::string_view key, std::string_view wanted, const nlohmann::json& found) {
  throw Error(fmt::format("recipe: {} must be {}, not {}", key, wanted, found.dump()));
}

template <class Enum>
requires std::is_enum_v<Enum>
void read_field(std::string_view key, const nlohmann::json& json, Enum& field) {
  std::vector<std::string_view> known;
  for (const auto& [value, name] : names_of(field)) {
    known.push_back(name);
    if (json.is_string() && json.get_ref<const std::string&>() == name) {
      field = value;
      return;
    }
  }
  refuse(key, fmt::format("one of {}", fmt::join(known, ", ")), json);
}

void read_field(std::string_view key, const nlohmann::json& json, double& field) {
  if (!json.is_number()) refuse(key, "a number", json);
  field = json.get<double>();
}

void read_field(std::string_view key, const nlohmann::json& json, std::optional<double>& field) {
  if (!json.is_number() && !json.is_null()) refuse(key, "a number or null", json);
  field = json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

void read_field(std::string_view key, const nlohmann::json& json, bool& field) {
  if (!json.is_boolean()) refuse(key, "true or false", json);
  field = json.get<bool>();
}

template <class Integer>
requires(std::is_integral_v<Integer> &&
         !std::is_same_v<Integer, bool>) void read_field(std::string_view key, const nlohmann::json& json, Integer& field) {
  // No field may be negative, so that one test serves the signed and the unsigned.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMost)
    refuse(key, fmt::format("a whole number in [0, {}]", kMost), json);
  field = static_cast<Integer>(json.get<std::uint64_t>());
}

// Refuses NaN too.
void require(bool in_range, const char* field, double value, const char* range) {
  if (!in_range) throw UsageError(fmt::format("recipe: {} is {} but must be {}", field, value, range));
}

void require_positive(const char* field, double value) {
  require(value > 0.0 && std::isfinite(value), field, value, "a finite number greater than 0");
}

void require_at_least_zero(const char* field, double value) {
  require(value >= 0.0 && std::isfinite(value), field, value, "a finite number, at least 0");
}

void require_fraction(const char* field, double value) {
  require(value >= 0.0 && value < 1.0, field, value, "at least 0 and less than 1");
}

}  // namespace

Recipe default_recipe() { return {}; }

Recipe paper_recipe() {
  Recipe recipe;
  recipe.optimiser = Optimiser::adam;
  recipe.rate = 1e-3;
  recipe.schedule = Schedule::constant;
  recipe.warmup_steps = 0;
  return recipe;
}

void check(const Recipe& recipe) {
  require_positive("huber_delta", recipe.huber_delta);
  require_at_least_zero("noise_sd", recipe.noise_sd);
  if (recipe.beta) require_at_least_zero("beta", *recipe.beta);
  require_positive("rate", recipe.rate);
  require_positive("muon_rate", recipe.muon_rate);
  require_fraction("adam_beta1", recipe.adam_beta1);
  require_fraction("adam_beta2", recipe.adam_beta2);
  require_positive("adam_epsilon", recipe.adam_epsilon);
  require_fraction("muon_momentum", recipe.muon_momentum);
  require(recipe.muon_iterations >= 1, "muon_iterations", recipe.muon_iterations, "at least 1");
  require_positive("epochs", recipe.epochs);
  require(recipe.batch >= 1, "batch", 0.0, "at least 1");
  require_positive("hyper_rate", recipe.hyper_rate);
}

std::uint64_t total_steps(const Recipe& recipe, std::size_t observations) {
  if (observations == 0) throw UsageError("recipe: there are no observations to train on");
  check(recipe);
  const std::uint64_t steps_per_epoch = (observations - 1) / recipe.batch + 1;
  const double steps = std::round(recipe.epochs * static_cast<double>(steps_per_epoch));
  constexpr double kMost = 9007199254740992.0;  // 2^53: beyond it a double does not count single steps
  if (steps > kMost) {
    throw UsageError(fmt::format("recipe: {} epochs of {} steps are more than can be counted; ask for fewer epochs",
                                 recipe.epochs, steps_per_epoch));
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(steps));
}

double weight_decay(const Recipe& recipe, std::size_t observations) {
  if (recipe.beta) return *recipe.beta;
  return recipe.noise_sd * recipe.noise_sd / static_cast<double>(observations);
}

std::string to_json(const Recipe& recipe) {
  check(recipe);  // JSON has no infinities
  nlohmann::ordered_json json;
  for_each_field(recipe, [&](const char* key, const auto& field) { json[key] = write_field(field); });
  return json.dump();
}

Recipe recipe_from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Error("recipe: the text is not a JSON object");
  const std::vector<std::string_view> known = field_names();
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw Error(fmt::format("recipe: there is no key '{}'; the nearest is '{}'", key, nearest_name(key, known)));
  }
  Recipe recipe;
  for_each_field(recipe, [&](const char* key, auto& field) {
    const auto found = json.find(key);
    if (found == json.end()) throw Error(fmt::format("recipe: the key '{}' is missing", key));
    read_field(key, *found, field);
  });
  check(recipe);
  return recipe;
}

}  // namespace drift
