// Thousands of damaged model files, the same ones each time. Each must either load to a valid model or be refused with
// drift::Error that begins with the path; nothing else may be thrown, and no more memory may be asked for than the file itself
// accounts for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "core/counting_memory.h"
#include "core/scratch_folder.h"
#include "drift/ensemble.h"
#include "drift/error.h"
#include "network/plan.h"
#include "network/safetensors_testing.h"

namespace drift {
namespace {

NetworkSpec tiny(Space space) {
  NetworkSpec spec = default_spec(space, space == Space::sphere ? 3 : 2, true);
  spec.spatial.layers = 2;
  spec.coupling = space == Space::sphere ? Coupling::additive : Coupling::product;
  spec.joint.layers = space == Space::sphere ? 1 : 0;
  spec.features = 6;
  spec.bottleneck = 2;
  spec.sphere_max_degree = 50;
  return spec;
}

void expect_valid(const Model& model) {
  const Plan plan = make_plan(model.ensemble.spec);
  ASSERT_FALSE(model.ensemble.members.empty());
  for (const Member& member : model.ensemble.members) {
    ASSERT_EQ(member.fixed.size(), plan.fixed_size);
    ASSERT_EQ(member.parameters.size(), plan.parameter_size);
    const auto finite = [](float number) { return std::isfinite(number); };
    ASSERT_TRUE(std::all_of(member.fixed.begin(), member.fixed.end(), finite));
    ASSERT_TRUE(std::all_of(member.parameters.begin(), member.parameters.end(), finite));
    for (const LayerPlan& layer : plan.layers) {
      if (!layer.sphere) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(layer.features); ++i) {
        const float degree = member.fixed[layer.degrees + i];
        ASSERT_TRUE(degree >= 0.0f && degree <= static_cast<float>(plan.spec.sphere_max_degree) && degree == std::floor(degree));
      }
    }
  }
}

class Damage {
 public:
  explicit Damage(Space space) : path_(folder_ / "model.safetensors") {
    save_model(path_, draw_ensemble(tiny(space), 5, 2), {{"domain", "Arctic"}});
    sealed_ = read_bytes(path_);
    good_ = without_checksums(sealed_);
    header_ = header_of(good_).size();
  }

  // Without checksums, which would keep all damage from the checks behind them.
  const std::string& good() const { return good_; }
  const std::string& sealed() const { return sealed_; }
  std::size_t header() const { return header_; }
  int loaded() const { return loaded_; }
  int refused() const { return refused_; }

  void try_loading(const std::string& bytes) {
    write_bytes(path_, bytes);
    const std::ptrdiff_t held = counting_memory::peak_during([&] { load(); });
    // The plan of a network of 3000 layers takes a few megabytes, a spectrum of 10,000 degrees less than one.
    EXPECT_LT(held, static_cast<std::ptrdiff_t>(20 * bytes.size() + 16'000'000));
  }

  // The good header with `text` in place of bytes [begin, begin + length), its length field mended.
  std::string with_header_edit(std::size_t begin, std::size_t length, const std::string& text) const {
    std::string header = header_of(good_);
    return with_header(good_, header.replace(begin, length, text));
  }

 private:
  void load() {
    try {
      const Model model = load_model(path_);
      ++loaded_;
      expect_valid(model);
    } catch (const Error& error) {
      ++refused_;
      EXPECT_TRUE(std::string(error.what()).starts_with(path_.string() + ": ")) << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "not a drift::Error: " << error.what();
    }
  }

  ScratchFolder folder_;
  std::filesystem::path path_;
  std::string good_, sealed_;
  std::size_t header_ = 0;
  int loaded_ = 0;
  int refused_ = 0;
};

class MutatedModelFile : public testing::TestWithParam<Space> {
 protected:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  Damage damage_{GetParam()};
  std::mt19937_64 random_{20250101};
};

TEST_P(MutatedModelFile, LoadsWhileUndamaged) {
  damage_.try_loading(damage_.good());
  damage_.try_loading(damage_.sealed());
  EXPECT_EQ(damage_.loaded(), 2);
}

TEST_P(MutatedModelFile, IsRefusedForAnyFlippedBitIfItHasChecksums) {
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = damage_.sealed();
    const std::size_t where = below(bytes.size());
    bytes[where] = static_cast<char>(bytes[where] ^ (1 << below(8)));
    damage_.try_loading(bytes);
  }
  EXPECT_EQ(damage_.loaded(), 0);
}

TEST_P(MutatedModelFile, SurvivesFlippedBits) {
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = damage_.good();
    for (std::size_t flips = 1 + below(3); flips > 0; --flips) {
      const std::size_t where = i % 3 == 0 ? below(bytes.size()) : below(8 + damage_.header());
      bytes[where] = static_cast<char>(bytes[where] ^ (1 << below(8)));
    }
    damage_.try_loading(bytes);
  }
  EXPECT_GT(damage_.loaded(), 30) << "flips of a weight's low bits cannot be seen without checksums";
  EXPECT_GT(damage_.refused(), 500);
}

TEST_P(MutatedModelFile, SurvivesBeingCutOrLengthened) {
  for (int i = 0; i < 500; ++i) {
    damage_.try_loading(damage_.good().substr(0, below(damage_.good().size())));
    damage_.try_loading(damage_.good() + std::string(1 + below(200), static_cast<char>(below(256))));
  }
  EXPECT_EQ(damage_.loaded(), 0);
}

TEST_P(MutatedModelFile, SurvivesAnyHeaderLength) {
  const auto with_length = [&](std::uint64_t length) {
    std::string bytes = damage_.good();
    std::memcpy(bytes.data(), &length, 8);
    damage_.try_loading(bytes);
  };
  for (std::uint64_t length = 0; length < damage_.good().size() + 20; length += 7) {
    if (length != damage_.header()) with_length(length);
  }
  for (int bit = 0; bit < 64; ++bit) {
    with_length(std::uint64_t{1} << bit);
    with_length((std::uint64_t{1} << bit) - 1);
    with_length(damage_.header() ^ (std::uint64_t{1} << bit));
  }
  with_length(~std::uint64_t{0} - 7);  // plus eight, it wraps round to zero
  EXPECT_GT(damage_.refused(), 500);
}

// Numbers in the header take on the values that break careless arithmetic: shapes, offsets, the spec's fields, members, seed.
TEST_P(MutatedModelFile, SurvivesHostileNumbersInTheHeader) {
  const std::string header = damage_.good().substr(8, damage_.header());
  const std::string hostile[] = {"0",
                                 "-1",
                                 "0.5",
                                 "1e9",
                                 "1e999",
                                 "1000",
                                 "100000",
                                 "1000000",
                                 "2147483647",
                                 "4294967296",
                                 "4611686018427387905",
                                 "18446744073709551615",
                                 "99999999999999999999",
                                 "null",
                                 "[]",
                                 "\\\"x\\\""};
  for (std::size_t i = 0; i < header.size();) {
    if (std::isdigit(static_cast<unsigned char>(header[i])) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (std::isdigit(static_cast<unsigned char>(header[end])) != 0) ++end;
    for (const std::string& number : hostile) damage_.try_loading(damage_.with_header_edit(i, end - i, number));
    i = end;
  }
  EXPECT_GT(damage_.refused(), 2000);
}

// Pieces of the header are removed, doubled, or put somewhere else.
TEST_P(MutatedModelFile, SurvivesARearrangedHeader) {
  const std::string header = damage_.good().substr(8, damage_.header());
  for (int i = 0; i < 1000; ++i) {
    const std::size_t from = below(header.size());
    const std::string piece = header.substr(from, 1 + below(120));
    if (i % 3 == 0) {
      damage_.try_loading(damage_.with_header_edit(from, piece.size(), ""));
    } else if (i % 3 == 1) {
      damage_.try_loading(damage_.with_header_edit(from, 0, piece));
    } else {
      damage_.try_loading(damage_.with_header_edit(below(header.size()), below(40), piece));
    }
  }
  EXPECT_GT(damage_.refused(), 800);
}

INSTANTIATE_TEST_SUITE_P(OnBothSpaces, MutatedModelFile, testing::Values(Space::plane, Space::sphere),
                         [](const auto& space) { return space.param == Space::plane ? "Plane" : "Sphere"; });

}  // namespace
}  // namespace drift
