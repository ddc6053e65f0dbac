#include "drift/tune.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("study", [](std::string_view input) {
  const InputFile input_file(input);
  const Study study = load_study(input_file.path());
  best_trial(study);
  best_so_far(study);
});

}  // namespace
}  // namespace drift::fuzz
