#include "fields/base64.h"

#include <gtest/gtest.h>

#include <string>

#include "drift/error.h"

namespace drift {
namespace {

TEST(Base64, MatchesRfc4648) {
  const auto text = [](std::string_view plain) {
    return to_base64({reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size()});
  };
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foobar"), "Zm9vYmFy");
  for (const char* plain : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    const std::vector<std::uint8_t> bytes = from_base64(text(plain));
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), plain);
  }
  EXPECT_THROW(from_base64("Zg="), Error);
  EXPECT_THROW(from_base64("Z!=="), Error);
}

}  // namespace
}  // namespace drift
