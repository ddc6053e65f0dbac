#include "drift/engine.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("checkpoint", [](std::string_view input) {
  const InputFile input_file(as_safetensors(input));
  const Checkpoint checkpoint = load_checkpoint(input_file.path());
  require(checkpoint.state.members.size() == checkpoint.ensemble.members.size(), "every member has its training state");
});

}  // namespace
}  // namespace drift::fuzz
