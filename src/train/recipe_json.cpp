// A recipe as JSON. The keys are the fields' names; enums are words; a beta that is not given is null. Keys that came with later
// versions may be missing: they then have the value that earlier versions took for granted.

#include <fmt/format.h>

#include "core/json_fields.h"
#include "drift/recipe.h"

namespace drift {

template <class Self>
requires ConstOrNot<Self, Recipe>
void visit_fields(Self& self, auto&& field) {
  field("loss", self.loss);
  field("huber_delta", self.huber_delta);
  field("noise_sd", self.noise_sd);
  field("beta", self.beta);
  field("optimiser", self.optimiser);
  field("rate", self.rate);
  field("muon_rate", self.muon_rate);
  field("adam_beta1", self.adam_beta1);
  field("adam_beta2", self.adam_beta2);
  field("adam_epsilon", self.adam_epsilon);
  field("muon_momentum", self.muon_momentum);
  field("muon_iterations", self.muon_iterations);
  field("schedule", self.schedule);
  field("warmup_steps", self.warmup_steps);
  field("epochs", self.epochs);
  field("batch", self.batch);
  field("train_lengthscales", self.train_lengthscales);
  field("train_amplitudes", self.train_amplitudes);
  field("hyper_rate", self.hyper_rate);
  field("dropout", self.dropout);
  field("value_noise", self.value_noise);
}

namespace {

std::string with_later_keys(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.empty()) return text;
  std::string more;
  for (const char* key : {"dropout", "value_noise"}) {
    if (!json.contains(key)) more += fmt::format(",\"{}\":0.0", key);
  }
  return more.empty() ? text : text.substr(0, text.rfind('}')) + more + '}';
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  check(recipe);  // JSON has no infinities
  return write_json(recipe).dump();
}

Recipe recipe_from_json(const std::string& text) {
  Recipe recipe = JsonReader("recipe").parse<Recipe>(with_later_keys(text));
  check(recipe);
  return recipe;
}

}  // namespace drift
