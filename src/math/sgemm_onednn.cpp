// Single-precision products by oneDNN, which picks its code for the instruction set found at run time.

#include <dnnl.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "drift/error.h"
#include "math/gemm.h"

namespace drift::cpu {
namespace {

// oneDNN splits a product over as many OpenMP threads as the calling thread would use: set that for one call, and put it back.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~OpenMpThreads() { omp_set_num_threads(before_); }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_;
};

// Holds signals back from the calling thread. Up to version 3.11.1 oneDNN's products for AVX2 and AVX-512 point the stack
// register into memory from malloc: a handler that runs in the midst of one, were it empty, writes its frame over the heap
// (uxlfoundation/oneDNN issue 4845). A signal waits for the product's end or goes to another thread; 0.2 to 0.6 us a product.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

// oneDNN writes code for this machine into memory of its own, and crashes where it gets none, as under systemd's
// MemoryDenyWriteExecute. So before its first product as much is asked for in the same way: pages that are written, then
// executed.
void check_executable_memory() {
  constexpr std::size_t kBytes = std::size_t{8} << 20;  // of all its kernels
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool mapped = pages != MAP_FAILED;
  const int error = mapped && ::mprotect(pages, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ? 0 : errno;
  if (mapped) ::munmap(pages, kBytes);
  if (error == 0) return;
  throw Error(fmt::format("there is no memory for the code that oneDNN generates: {} {}; does this system forbid it?",
                          mapped ? "executable pages are refused:" : "mmap fails:", std::generic_category().message(error)));
}

char letter(Transpose transpose) { return transpose == Transpose::yes ? 'T' : 'N'; }
dnnl_dim_t dim(std::size_t size) { return static_cast<dnnl_dim_t>(size); }

}  // namespace

void gemm_on_all_threads(const Gemm<float>& p, int threads) {
  [[maybe_unused]] static const bool checked = (check_executable_memory(), true);  // tried again where it threw
  const OpenMpThreads only(threads);
  const SignalsHeldBack held_back;
  const dnnl_status_t status = dnnl_sgemm(letter(p.transpose_a), letter(p.transpose_b), dim(p.m), dim(p.n), dim(p.k), p.alpha,
                                          p.a, dim(p.lda), p.b, dim(p.ldb), p.beta, p.c, dim(p.ldc));
  if (status != dnnl_success) {
    throw Error(
        fmt::format("oneDNN refused the product [{},{}] x [{},{}] with status {}", p.m, p.k, p.k, p.n, static_cast<int>(status)));
  }
}

void gemm(const Gemm<float>& product) { gemm_on_all_threads(product, 1); }

const char* gemm_library() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }();
  return name.c_str();
}

}  // namespace drift::cpu
