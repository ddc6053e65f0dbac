#include "network/safetensors.h"

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("safetensors", [](std::string_view input) {
  const InputFile input_file(input);
  SafetensorsFile(input_file.path()).check_data();
});

}  // namespace
}  // namespace drift::fuzz
