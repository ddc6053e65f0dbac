#include "network/safetensors_checksums.h"

#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "network/safetensors.h"
#include "network/safetensors_testing.h"

namespace drift {
namespace {

// Two small tensors and some metadata.
class ChecksummedFile : public testing::Test {
 protected:
  ChecksummedFile() : path_(folder_ / "t.safetensors") {
    write_safetensors(path_, std::vector<TensorSource>{{"a", {3}, a_}, {"b", {2}, b_}, {"none", {0}, {}}}, metadata_);
    good_ = read_bytes(path_);
  }

  // Why it is refused when both tensors are read; empty: it is not.
  std::string refusal(const std::string& bytes) const {
    write_bytes(path_, bytes);
    try {
      const SafetensorsFile file(path_);
      std::vector<float> a(3), b(2);
      file.read("a", std::vector<std::size_t>{3}, a);
      file.read("b", std::vector<std::size_t>{2}, b);
    } catch (const Error& error) {
      return std::string(error.what()).substr(path_.string().size());
    }
    return "";
  }

  ScratchFolder folder_;
  std::filesystem::path path_;
  const std::vector<float> a_ = {1.0f, 2.0f, 3.0f};
  const std::vector<float> b_ = {4.0f, 5.0f};
  const std::map<std::string, std::string> metadata_ = {{"note", "says \"crc32.header\":\"00000000\" and goes on"}};
  std::string good_;
};

TEST(Crc32, IsThatOfZipAndContinues) {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(crc32_of(bytes), 0xCBF43926U);  // the check value of every description of CRC-32
  EXPECT_EQ(crc32_of(bytes.subspan(4), crc32_of(bytes.first(4))), 0xCBF43926U);
  EXPECT_EQ(crc32_of({}, 7), 7u);
}

TEST_F(ChecksummedFile, IsReadWhileWhole) {
  EXPECT_EQ(refusal(good_), "");
  const SafetensorsFile file(path_);
  EXPECT_TRUE(file.has_checksums());
  EXPECT_EQ(file.metadata(), metadata_);  // the checksums are the container's own affair
  EXPECT_NO_THROW(file.check_data());
}

TEST_F(ChecksummedFile, NoticesEveryFlippedBit) {
  for (std::size_t at = 0; at < good_.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good_;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      EXPECT_NE(refusal(bytes), "") << "bit " << bit << " of byte " << at;
    }
  }
}

TEST_F(ChecksummedFile, SaysWhatIsDamaged) {
  std::string bytes = good_;
  bytes[bytes.size() - 1] = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(refusal(bytes), ": is damaged: tensor \"b\" does not match its checksum; fetch or copy the file again");
  const SafetensorsFile file(path_);
  EXPECT_THROW(file.check_data(), Error);
  bytes = good_;
  bytes[bytes.find("goes on")] = 'G';
  EXPECT_EQ(refusal(bytes), ": is damaged: its header does not match its checksum; fetch or copy the file again");
}

TEST_F(ChecksummedFile, IsReadUncheckedWithoutChecksums) {
  std::string bytes = without_checksums(good_);
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_FALSE(SafetensorsFile(path_).has_checksums());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(refusal(bytes), "") << "files of earlier versions are taken at their word";
}

TEST_F(ChecksummedFile, TellsAHeaderThatAnotherProgramRewrote) {
  std::string header = header_of(good_);
  const std::size_t colon = header.find("\"crc32.header\":") + 15;
  EXPECT_EQ(refusal(with_header(good_, header.insert(colon, " "))).substr(0, 50),
            ": its header has been rewritten by another program");
  // One of the two alone is no file of any version.
  EXPECT_EQ(refusal(with_header(good_, R"({"__metadata__":{"crc32.tensors":"00000000"}})")),
            ": is damaged: its metadata have only one of \"crc32.header\" and \"crc32.tensors\"");
}

}  // namespace
}  // namespace drift
