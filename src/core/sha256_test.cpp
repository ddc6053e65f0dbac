#include "core/sha256.h"

#include <gtest/gtest.h>

#include "core/scratch_folder.h"

namespace drift {
namespace {

std::string sha256(const std::string& text) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

// FIPS 180-4's examples (NIST, Cryptographic Standards and Guidelines: SHA256.pdf), and a million times 'a'.
TEST(Sha256, GivesTheStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnTheBlocksThatBytesComeIn) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 37);
  for (const std::size_t step : {1, 7, 63, 64, 65, 200}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += step)
      hash.add(std::as_bytes(std::span(text).subspan(at, std::min(step, text.size() - at))));
    EXPECT_EQ(hash.finish(), sha256(text)) << step;
  }
}

TEST(Sha256, OfAFileIsThatOfItsBytesAndNothingWithoutOne) {
  const ScratchFolder folder;
  write_bytes(folder / "a", std::string(3u << 20, 'x'));
  EXPECT_EQ(sha256_of_file(folder / "a"), sha256(std::string(3u << 20, 'x')));
  EXPECT_EQ(sha256_of_file(folder / "b"), "");
  EXPECT_EQ(sha256_of_file("https://example.org/a.nc"), "");
}

}  // namespace
}  // namespace drift
