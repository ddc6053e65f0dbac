// JSON inside models, checkpoints and kept fits, and the texts of methods; the first byte chooses the reader.

#include "drift/domain.h"
#include "drift/network_spec.h"
#include "drift/recipe.h"
#include "drift/run_settings.h"
#include "network/plan.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("json", [](std::string_view input) {
  if (input.empty()) return;
  const std::string text(input.substr(1));
  switch (input.front()) {
    case 'd':
      check(domain_from_json(text));
      break;
    case 'n': {
      const NetworkSpec spec = network_spec_from_json(text);
      require(to_json(network_spec_from_json(to_json(spec))) == to_json(spec), "a spec comes back from its own JSON");
      make_plan(spec);
      break;
    }
    case 'r': {
      const Recipe recipe = recipe_from_json(text);
      require(to_json(recipe_from_json(to_json(recipe))) == to_json(recipe), "a recipe comes back from its own JSON");
      break;
    }
    default:
      require(text_of(fit_choice(text_of(fit_choice(text)))) == text_of(fit_choice(text)),
              "a method comes back from its own text");
  }
});

}  // namespace
}  // namespace drift::fuzz
