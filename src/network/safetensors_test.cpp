#include "network/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <string>

#include "core/scratch_folder.h"
#include "drift/error.h"

namespace drift {
namespace {

// A file of the given header and `data` zero bytes.
std::string container(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\0');
}

std::string tensor_json(const std::string& name, const std::string& shape, const std::string& offsets,
                        const std::string& dtype = "F32") {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype, shape, offsets);
}

std::string object(const std::string& entries) { return fmt::format("{{{}}}", entries); }

// The message without the path, empty when the file is accepted.
std::string refusal(const std::string& bytes) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "t.safetensors";
  write_bytes(path, bytes);
  try {
    const SafetensorsFile file(path);
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::string prefix = path.string() + ": ";
    EXPECT_TRUE(message.starts_with(prefix)) << message;
    return message.substr(prefix.size());
  }
  return "";
}

std::string write_refusal(const std::filesystem::path& path, const std::vector<TensorSource>& tensors,
                          const std::map<std::string, std::string>& metadata = {}) {
  try {
    write_safetensors(path, tensors, metadata);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Safetensors, ComesBackBitForBit) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "t.safetensors";
  const std::vector<float> matrix = {1.0f, -0.0f, 3e38f, std::numeric_limits<float>::denorm_min(), 0.1f, -7.0f};
  const std::vector<float> scalar = {42.0f};
  const std::map<std::string, std::string> metadata = {{"", "empty key"}, {"text", "quotes \" and \\ and \n, Matérn, \x01"}};
  write_safetensors(path, std::vector<TensorSource>{{"m", {2, 3}, matrix}, {"none", {0, 4}, {}}, {"s", {}, scalar}}, metadata);
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.tensors().size(), 3u);
  std::vector<float> out(6);
  const std::size_t shape[] = {2, 3};
  file.read("m", shape, out);
  EXPECT_EQ(std::memcmp(out.data(), matrix.data(), 24), 0);
  float number = 0.0f;
  file.read("s", {}, {&number, 1});
  EXPECT_EQ(number, 42.0f);
}

TEST(Safetensors, WritesTheContainerAsItIsDefined) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "t.safetensors";
  const std::vector<float> numbers = {1.0f, 2.0f};
  write_safetensors(path, std::vector<TensorSource>{{"a", {2}, numbers}}, {{"k", "v"}});
  // The checksums are zlib.crc32 of the eight bytes, and of the header with zeros in place of its own.
  const std::string json =
      "{\"__metadata__\":{\"crc32.header\":\"341812e5\",\"crc32.tensors\":\"2e3fa576\",\"k\":\"v\"},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
  const std::string padded = json + std::string(184 - json.size(), ' ');  // 8 + 184 bytes: the data begin at a multiple of 64
  std::string wanted = container(padded, 8);
  std::memcpy(wanted.data() + wanted.size() - 8, numbers.data(), 8);
  EXPECT_EQ(read_bytes(path), wanted);
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "t";
  const std::vector<float> two = {1.0f, 2.0f};
  const std::string cannot = "cannot write " + path.string() + ": ";
  EXPECT_EQ(write_refusal(path, {{"a", {2}, two}, {"a", {2}, two}}), cannot + "two tensors have the name \"a\"");
  EXPECT_EQ(write_refusal(path, {{"__metadata__", {2}, two}}), cannot + "two tensors have the name \"__metadata__\"");
  EXPECT_EQ(write_refusal(path, {{"a", {3}, two}}), cannot + "tensor \"a\" has shape [3] but 2 numbers");
  EXPECT_EQ(write_refusal(path, {{"a", {std::size_t{1} << 63, 4}, two}}),
            cannot + "tensor \"a\" has shape [9223372036854775808, 4] but 2 numbers");
  EXPECT_EQ(write_refusal(path, {}, {{"key", "\xff"}}), cannot + "the name or text \"\xff\" is not UTF-8");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Safetensors, ReadsATensorOnlyAsWhatItIs) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "t.safetensors";
  write_bytes(path, container(object(tensor_json("a", "2,2", "0,16") + "," + tensor_json("h", "2", "16,20", "F16")), 20));
  const SafetensorsFile file(path);
  std::vector<float> out(4);
  const auto refused = [&](const std::string& name, const std::vector<std::size_t>& shape) -> std::string {
    try {
      file.read(name, shape, out);
    } catch (const Error& error) {
      return std::string(error.what()).substr(path.string().size());
    }
    return "";
  };
  EXPECT_EQ(refused("a", {2, 2}), "");
  EXPECT_EQ(refused("b", {2, 2}), ": tensor \"b\" is missing");
  EXPECT_EQ(refused("a", {4}), ": tensor \"a\" has shape [2, 2] but [4] is wanted");
  EXPECT_EQ(refused("h", {2}), ": tensor \"h\" is of F16 but F32 is wanted");
  out.resize(3);
  EXPECT_EQ(refused("a", {2, 2}), ": tensor \"a\" has shape [2, 2] but room for 3 numbers");
}

TEST(Safetensors, AcceptsWhatOthersMayWrite) {
  EXPECT_EQ(refusal(container("{}", 0)), "");
  EXPECT_EQ(refusal(container("{}    \n ", 0)), "");
  EXPECT_EQ(refusal(container("{\"__metadata__\":{}}", 0)), "");
  EXPECT_EQ(refusal(container(object(tensor_json("b", "2", "4,12") + "," + tensor_json("a", "1", "0,4")), 12)), "");
  EXPECT_EQ(refusal(container(object(tensor_json("a", "3", "0,24", "I64")), 24)), "");
}

TEST(Safetensors, RefusesLengthsThatDoNotFitTheFile) {
  EXPECT_EQ(refusal(""), "is not a safetensors file: it has 0 bytes");
  EXPECT_EQ(refusal("1234567"), "is not a safetensors file: it has 7 bytes");
  const std::string text = "This is a text that someone took for a model.";
  EXPECT_EQ(refusal(text), "is not a safetensors file, as models of drift fit are");
  std::string bytes = container("{}", 0);
  bytes[0] = 3;
  EXPECT_EQ(refusal(bytes), "is not a safetensors file or is cut short: its header would have 3 bytes, the file has 10");
  const std::string two = object(tensor_json("a", "2", "0,8"));
  EXPECT_EQ(refusal(container(two, 7)), "is cut short or has been added to: its tensors take 8 bytes, its data 7");
  EXPECT_EQ(refusal(container(two, 9)), "is cut short or has been added to: its tensors take 8 bytes, its data 9");
}

TEST(Safetensors, RefusesAHeaderBeyondSixtyFourMebibytesWithoutReadingIt) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sparse";
  const std::uint64_t length = 64 * 1024 * 1024 + 1;
  write_bytes(path, std::string(reinterpret_cast<const char*>(&length), 8));
  std::filesystem::resize_file(path, length + 8);  // a hole: takes no room on the disk
  try {
    const SafetensorsFile file(path);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is not a safetensors file"), std::string::npos) << error.what();
  }
}

TEST(Safetensors, RefusesOffsetsThatOverlapLeaveGapsOrOverflow) {
  const auto two = [](const std::string& a, const std::string& b) {
    return container(object(tensor_json("a", "2", a) + "," + tensor_json("b", "2", b)), 16);
  };
  EXPECT_EQ(refusal(two("0,8", "8,16")), "");
  EXPECT_EQ(refusal(two("0,8", "4,12")), "tensor \"b\" begins at byte 4 of the data but the one before it ends at 8");
  EXPECT_EQ(refusal(two("0,8", "0,8")), "tensor \"b\" begins at byte 0 of the data but the one before it ends at 8");
  EXPECT_EQ(refusal(two("0,8", "12,20")), "tensor \"b\" begins at byte 12 of the data but the one before it ends at 8");
  EXPECT_EQ(refusal(two("8,16", "16,24")), "tensor \"a\" begins at byte 8 of the data but the one before it ends at 0");
  EXPECT_EQ(refusal(two("0,8", "16,8")), "tensor \"b\" has shape [2] of F32 but data_offsets [16, 8]");
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return container(object(tensor_json("a", shape, offsets)), 8);
  };
  EXPECT_EQ(refusal(one("3", "0,8")), "tensor \"a\" has shape [3] of F32 but data_offsets [0, 8]");
  // 2^62 + 2 floats are 8 bytes modulo 2^64.
  EXPECT_EQ(refusal(one("4611686018427387906", "0,8")),
            "tensor \"a\" has shape [4611686018427387906] of F32 but data_offsets [0, 8]");
  EXPECT_EQ(refusal(one("4294967296,4294967296", "0,0")),
            "tensor \"a\" has shape [4294967296, 4294967296] of F32 but data_offsets [0, 0]");
}

TEST(Safetensors, RefusesEveryOtherHeader) {
  const std::string entry = tensor_json("a", "0", "0,0");
  const auto header = [](const std::string& text) { return refusal(container(text, 0)); };
  EXPECT_EQ(header("[]"), "the header does not begin as a safetensors header does, with \"{\"");
  EXPECT_EQ(header(""), "the header does not begin as a safetensors header does, with \"{\"");
  EXPECT_EQ(header(fmt::format("{{{}", entry)), "the header is not valid JSON at its byte 54");
  EXPECT_EQ(header("{} {}"), "the header is not valid JSON at its byte 4");
  EXPECT_EQ(header("{\"\xff\":{}}"), "the header is not valid JSON at its byte 3");
  EXPECT_EQ(header(object(entry + "," + entry)), "the header names \"a\" twice");
  EXPECT_EQ(header("{\"__metadata__\":{},\"__metadata__\":{}}"), "the header names \"__metadata__\" twice");
  EXPECT_EQ(header("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"), "the header names metadata \"k\" twice");
  EXPECT_EQ(header("{\"__metadata__\":{\"k\":1}}"), "the header has a number where safetensors has none, at \"k\"");
  EXPECT_EQ(header("{\"__metadata__\":[]}"), "the header has an array where safetensors has none, at \"__metadata__\"");
  EXPECT_EQ(header("{\"a\":1}"), "the header has a number where safetensors has none, at \"a\"");
  EXPECT_EQ(header("{\"a\":null}"), "the header has null where safetensors has none, at \"a\"");
  EXPECT_EQ(header("{\"a\":{}}"), "the header lacks dtype, shape or data_offsets of \"a\"");
  EXPECT_EQ(header("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"), "the header gives dtype of \"a\" twice");
  EXPECT_EQ(header("{\"a\":{\"colour\":1}}"), "the header has an unknown key \"colour\" at \"a\"");
  EXPECT_EQ(header(object(tensor_json("a", "-1", "0,0"))),
            "the header has a negative number where safetensors has none, at \"shape\"");
  EXPECT_EQ(header(object(tensor_json("a", "0.5", "0,0"))), "the header has a fraction where safetensors has none, at \"shape\"");
  EXPECT_EQ(header(object(tensor_json("a", "[0]", "0,0"))), "the header has an array where safetensors has none, at \"shape\"");
  EXPECT_EQ(header(object(tensor_json("a", "0", "0"))), "the header gives \"a\" fewer than two data_offsets");
  EXPECT_EQ(header(object(tensor_json("a", "0", "0,0,0"))), "the header gives \"a\" more than two data_offsets");
  EXPECT_EQ(header(object(tensor_json("a", "0", "0,0", "F33"))), "tensor \"a\" is of an unknown type \"F33\"");
  EXPECT_EQ(header("{\"a\":" + std::string(1'000'000, '[')), "the header has an array where safetensors has none, at \"a\"");
}

TEST(Safetensors, SaysWhyAFileCannotBeOpened) {
  const ScratchFolder folder;
  const auto opened = [](const std::filesystem::path& path) -> std::string {
    try {
      const SafetensorsFile file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(opened(folder / "none"), (folder / "none").string() + ": cannot be read: No such file or directory");
  EXPECT_EQ(opened(folder / "."), (folder / ".").string() + ": is not a regular file");
  EXPECT_EQ(opened("/dev/zero"), "/dev/zero: is not a regular file");
}

// Files of this process may grow to `bytes` while it lives: as good as a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_ = {};
  void (*old_handler_)(int);
};

TEST(AtomicFile, LeavesTheOldFileAndNothingElseWhenTheDiskIsFull) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "model";
  const std::vector<float> small(10, 1.0f);
  const std::vector<float> large(100'000, 2.0f);
  write_safetensors(path, std::vector<TensorSource>{{"a", {10}, small}}, {});
  const std::string before = read_bytes(path);
  std::string message;
  {
    const FileSizeLimit limit(10'000);
    message = write_refusal(path, {{"a", {100'000}, large}});
  }
  EXPECT_EQ(message, "cannot write " + path.string() + ": File too large");
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, SaysWhyItCannotWriteAndLeavesNothing) {
  const ScratchFolder folder;
  EXPECT_EQ(write_refusal(folder / "none/model", {}),
            "cannot write " + (folder / "none/model").string() + ": No such file or directory");
  write_bytes(folder / "file", "x");
  EXPECT_EQ(write_refusal(folder / "file/model", {}), "cannot write " + (folder / "file/model").string() + ": Not a directory");
  EXPECT_EQ(write_refusal("/dev/full", {}), "cannot write /dev/full: it exists and is not a regular file");
  EXPECT_EQ(write_refusal(folder / ".", {}), "cannot write " + (folder / ".").string() + ": it exists and is not a regular file");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, ShowsNothingUntilItIsCommitted) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "file";
  write_bytes(path, "old");
  const std::string text = "new, and longer";
  {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    EXPECT_EQ(read_bytes(path), "old");
    EXPECT_EQ(folder.files(), 2u) << "the temporary file lies beside it";
  }
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_EQ(folder.files(), 1u) << "given up, it leaves nothing";
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  EXPECT_EQ(read_bytes(path), text);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(AtomicFile, WritesBehindASymbolicLinkAndInTheWorkingFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "far");
  write_bytes(folder / "far/file", "old");
  std::filesystem::create_symlink(folder / "far/file", folder / "link");
  AtomicFile(folder / "link").commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "far/file"), "");

  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "far");
  AtomicFile("bare").commit();
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(folder / "far/bare"));
}

}  // namespace
}  // namespace drift
