#include "drift/field_model.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("model", [](std::string_view input) {
  const InputFile input_file(as_safetensors(input));
  const FieldModel model = load_field_model(input_file.path());
  require(!model.ensemble.members.empty() || model.process || model.method, "a loaded model predicts");
});

}  // namespace
}  // namespace drift::fuzz
