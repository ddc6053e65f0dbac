#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "drift/control.h"

namespace drift {

// SHA-256 (FIPS 180-4), for telling files apart; sha256sum gives the same.
class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  std::string finish();  // 64 hexadecimal digits; nothing may be added afterwards

 private:
  void add_block(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_ = {};
  std::uint64_t bytes_ = 0;
};

// Of a file; empty if there is none, as at a remote address. Throws Error if it cannot be read, and Stopped.
std::string sha256_of_file(const std::filesystem::path& path, const Control& control = {});

}  // namespace drift
