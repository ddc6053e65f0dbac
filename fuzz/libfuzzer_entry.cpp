// libFuzzer calls this; the program holds one target.

#include <cstddef>
#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  drift::fuzz::FuzzTarget::all().front()->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
