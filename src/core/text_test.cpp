#include "drift/text.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(Utf8, KnowsItsOwn) {
  for (const char* good : {"", "plain", "Zürich", "海面高度", "🌊", "\x7f"}) EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"caf\xe9", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
}

TEST(Utf8, ComesFromLatin1WhereATextIsNone) {
  EXPECT_EQ(to_utf8("\xb0"
                    "C"),
            "°C");
  EXPECT_EQ(to_utf8("caf\xe9"), "café");
  EXPECT_EQ(to_utf8("°C"), "°C");
}

TEST(Printable, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("Höhe, 海"), "Höhe, 海");
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // the one-character form of ESC [
  EXPECT_EQ(printable("caf\xe9\r"), "caf\\xe9\\x0d");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace drift
