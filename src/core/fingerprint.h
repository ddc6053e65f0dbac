#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace drift {

// Tells two runs' inputs apart. 64 bits, mixed word by word as splitmix64 does; not for secrets.
class Fingerprint {
 public:
  void add(std::string_view text);
  template <class Number>
  void add(std::span<const Number> numbers) {
    static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= 8);
    word(numbers.size());
    for (const Number& number : numbers) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof(number));
      word(bits);
    }
  }
  std::string text() const;  // 16 hexadecimal digits

 private:
  void word(std::uint64_t bits) {
    state_ = (state_ ^ bits) * 0x9E3779B97F4A7C15U;
    state_ ^= state_ >> 29;
  }

  std::uint64_t state_ = 0x243F6A8885A308D3U;
};

}  // namespace drift
