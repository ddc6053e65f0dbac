#include "core/fingerprint.h"

#include <fmt/format.h>

namespace drift {

void Fingerprint::add(std::string_view text) {
  word(text.size());
  for (const char c : text) word(static_cast<unsigned char>(c));
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", state_); }

}  // namespace drift
