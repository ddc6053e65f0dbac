#include "engine/cuda/card_product.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <library_types.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "drift/bench.h"
#include "drift/error.h"

namespace drift {
namespace cuda {
namespace {

// Of cuBLAS's C interface (cublas_api.h), whose header is not everywhere where CUDA's compiler is.
constexpr int kAsItIs = 0;      // CUBLAS_OP_N
constexpr int kFloat32 = 68;    // CUBLAS_COMPUTE_32F
constexpr int kTf32 = 77;       // CUBLAS_COMPUTE_32F_FAST_TF32
constexpr int kItsChoice = -1;  // CUBLAS_GEMM_DEFAULT

void check_cublas(int status, const char* doing) {
  if (status != 0) throw Error(fmt::format("cuBLAS failed while {}: status {}", doing, status));
}

void* open_library() {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
    // The loader's own way first.
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/", "/opt/cuda/lib64/"}) {
      if (void* library = dlopen(fmt::format("{}{}", folder, name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
  }
  return nullptr;
}

template <class Function>
void look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw Error(fmt::format("this machine's cuBLAS has no {}: it is too old for the bench", name));
}

}  // namespace

struct Cublas::Functions {
  int (*create)(void**);
  int (*destroy)(void*);
  int (*version)(void*, int*);
  int (*set_stream)(void*, cudaStream_t);
  int (*gemm)(void*, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
              const void* b, cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc, int compute,
              int algorithm);
};

std::unique_ptr<Cublas> Cublas::find() {
  void* library = open_library();  // never closed: it leaves things behind that outlive it
  if (library == nullptr) return nullptr;
  auto functions = std::make_unique<Functions>();
  look_up(library, "cublasCreate_v2", functions->create);
  look_up(library, "cublasDestroy_v2", functions->destroy);
  look_up(library, "cublasGetVersion_v2", functions->version);
  look_up(library, "cublasSetStream_v2", functions->set_stream);
  look_up(library, "cublasGemmEx", functions->gemm);
  return std::unique_ptr<Cublas>(new Cublas(std::move(functions)));
}

Cublas::Cublas(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {
  check_cublas(functions_->create(&handle_), "starting");
}
Cublas::~Cublas() { functions_->destroy(handle_); }

std::string Cublas::name() const {
  int version = 0;
  check_cublas(functions_->version(handle_, &version), "telling its version");
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void Cublas::multiply(Precision precision, int size, const void* a, const void* b, float* c, const Stream& stream) {
  const float one = 1.0F, zero = 0.0F;
  const cudaDataType type = precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
  const int compute = precision == Precision::tf32 ? kTf32 : kFloat32;
  check_cublas(functions_->set_stream(handle_, stream.get()), "starting");
  // It counts by columns: what is a . b by rows is b' . a' to it.
  check_cublas(functions_->gemm(handle_, kAsItIs, kAsItIs, size, size, size, &one, b, type, size, a, type, size, &zero, c,
                                CUDA_R_32F, size, compute, kItsChoice),
               "multiplying");
}

namespace {

constexpr int kRounds = 6, kProducts = 10;  // the first round warms up, but may be the best all the same

// In [-1, 1), with no pattern in them: a card that has few bits to toggle runs faster. A Weyl sequence through a mixer (Steele,
// Lea & Flood 2014).
std::vector<float> random_values(std::size_t count) {
  std::vector<float> values(count);
  std::uint64_t state = 1;
  for (float& value : values) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    value = static_cast<float>((z ^ (z >> 31U)) >> 40U) * 0x1p-23F - 1.0F;
  }
  return values;
}

DeviceArray<float> factor(const std::vector<float>& values, Precision precision, const Stream& stream) {
  DeviceArray<float> result(values.size());
  if (precision != Precision::bf16) {
    result.upload(values, stream);
    return result;
  }
  std::vector<float> pairs(values.size() / 2);  // of upper halves
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto low = std::bit_cast<std::uint32_t>(values[2 * i]), high = std::bit_cast<std::uint32_t>(values[2 * i + 1]);
    pairs[i] = std::bit_cast<float>((high & 0xffff0000U) | (low >> 16U));
  }
  result.upload(pairs.data(), pairs.size(), 0, stream);
  return result;
}

}  // namespace
}  // namespace cuda

std::optional<ProductSpeed> card_product(Precision precision, int size) {
  if (size < 1) throw UsageError(fmt::format("bench: a product of size {}", size));
  const auto cublas = cuda::Cublas::find();
  if (!cublas) return std::nullopt;
  const cuda::Stream stream;
  const std::size_t count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const std::vector<float> values = cuda::random_values(count);
  const auto a = cuda::factor(values, precision, stream), b = cuda::factor(values, precision, stream);
  cuda::DeviceArray<float> c(count);
  double best_s = INFINITY;
  for (int round = 0; round < cuda::kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < cuda::kProducts; ++i) cublas->multiply(precision, size, a.data(), b.data(), c.data(), stream);
    stream.wait();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best_s = std::min(best_s, taken.count() / cuda::kProducts);
  }
  return ProductSpeed{2.0 * std::pow(size, 3) / best_s * 1e-9, cublas->name()};
}

}  // namespace drift
