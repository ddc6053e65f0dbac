#include "drift/run_settings.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("run_file", [](std::string_view input) {
  const RunSettings settings = run_settings_from_toml(std::string(input), "run.toml");
  check(settings);
  const std::string text = to_toml(settings);
  require(to_toml(run_settings_from_toml(text, "again.toml")) == text, "settings come back from their own text");
});

}  // namespace
}  // namespace drift::fuzz
