#include "core/parse_json.h"

#include <gtest/gtest.h>

#include "drift/error.h"

namespace drift {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, RefusesWhatIsNestedWithoutEnd) {
  EXPECT_EQ(refusal(nested(16)), "");
  for (const std::size_t depth : {17U, 1000U, 300'000U}) {
    EXPECT_EQ(refusal(nested(depth)), "file: the JSON is nested more than 16 deep") << depth;
    EXPECT_EQ(refusal("{\"a\\\"b\": " + nested(depth) + "}"), "file: the JSON is nested more than 16 deep") << depth;
  }
  // One after the other is not nested, nor is what stands in a text.
  std::string row = "[", text = "\"";
  for (int i = 0; i < 1000; ++i) row += i == 0 ? "[]" : ",{}", text += "[\\\"{\\\\";
  EXPECT_EQ(refusal(row + "]"), "");
  EXPECT_EQ(refusal(text + "\""), "");
}

TEST(ParseJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "{\"a\":1", "[1,]", "{} {}", "]]]]", "\"\xff\""})
    EXPECT_EQ(refusal(text), "file: the text is not valid JSON, or is cut short") << text;
}

}  // namespace
}  // namespace drift
