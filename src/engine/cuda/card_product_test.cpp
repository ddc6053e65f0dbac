#include "engine/cuda/card_product.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/random.h"
#include "drift/bench.h"
#include "engine/cuda/cuda_testing.h"

namespace drift::cuda {
namespace {

// What is multiplied is what the precision says: the factors' rounding shows in the product, and nothing coarser does.
class CublasProduct : public testing::Test {
 protected:
  static constexpr int kSize = 96;
  static constexpr std::size_t kEntries = static_cast<std::size_t>(kSize * kSize);

  void SetUp() override {
    DRIFT_NEEDS_GPU();
    cublas_ = Cublas::find();
    if (!cublas_) GTEST_SKIP() << "this machine has no cuBLAS";
    RandomStream stream({.seed = 5});
    for (auto* matrix : {&a_, &b_}) {
      matrix->resize(kEntries);
      for (float& x : *matrix) x = static_cast<float>(stream.normal());
    }
  }

  // Root mean square of the product's errors, that of its entries being about sqrt(96).
  double error(Precision precision) {
    const Stream stream;
    DeviceArray<float> a(kEntries), b(kEntries), c(kEntries);
    upload(a_, precision, a, stream);
    upload(b_, precision, b, stream);
    cublas_->multiply(precision, kSize, a.data(), b.data(), c.data(), stream);
    std::vector<float> product(kEntries);
    c.download(product.data(), kEntries, 0, stream);
    double sum = 0.0;
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t col = 0; col < kSize; ++col) {
        double exact = 0.0;
        for (std::size_t k = 0; k < kSize; ++k) exact += static_cast<double>(a_[row * kSize + k]) * b_[k * kSize + col];
        sum += (product[row * kSize + col] - exact) * (product[row * kSize + col] - exact);
      }
    }
    return std::sqrt(sum / kEntries);
  }

  std::unique_ptr<Cublas> cublas_;

 private:
  static void upload(const std::vector<float>& from, Precision precision, DeviceArray<float>& to, const Stream& stream) {
    std::vector<float> values = from;
    if (precision == Precision::bf16) {  // upper halves, side by side
      auto* halves = reinterpret_cast<std::uint16_t*>(values.data());
      for (std::size_t i = 0; i < from.size(); ++i) {
        const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(from[i]) >> 16U);
        std::memcpy(halves + i, &upper, sizeof upper);
      }
    }
    to.upload(values, stream);
  }

  std::vector<float> a_, b_;
};

TEST_F(CublasProduct, IsOfTheFactorsInTheirPrecision) {
  EXPECT_LT(error(Precision::float32), 3e-5);  // 96 sums in float32
  EXPECT_GT(error(Precision::tf32), 1e-4);     // 10 bits behind the point, rounded
  EXPECT_LT(error(Precision::tf32), 1e-2);
  EXPECT_GT(error(Precision::bf16), 1e-2);  // 7 bits, cut off
  EXPECT_LT(error(Precision::bf16), 0.3);
}

TEST_F(CublasProduct, IsMeasuredAndNamed) {
  for (const Precision precision : {Precision::float32, Precision::tf32, Precision::bf16}) {
    const auto speed = card_product(precision, 512);
    ASSERT_TRUE(speed);
    EXPECT_GT(speed->gflops, 0.0);
    EXPECT_EQ(speed->library.substr(0, 7), "cuBLAS ");
  }
}

}  // namespace
}  // namespace drift::cuda
