#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "drift/engine.h"
#include "drift/export.h"
#include "drift/network_spec.h"

namespace DRIFT_PUBLIC drift {

// The reference figures of `drift bench`.

// Floating-point operations of the dense method, two for each multiply-add, for one observation and one member. They are those of
// the network as its formula has it: products that algebra makes unnecessary (fast transforms for structured frequencies, a head
// folded into the bottlenecks before it) are counted, so that figures can be compared whatever an engine leaves out. Prediction:
// the frequencies' and the bottlenecks' products. Training adds the weight gradient of every bottleneck and of the head, and, for
// layers that have trained layers below them, the gradients with respect to their features and to their hidden input.
// A dense network's layers have the product with their matrix alone. Cosines, Legendre recurrences, activations, biases and the
// optimiser are not counted.
double prediction_flops(const NetworkSpec& spec);
double training_flops(const NetworkSpec& spec);

// The machine's own speed: the best of a few single-precision products of two square matrices of `size`, on `threads` threads,
// in 10^9 operations per second.
double gemm_gflops(int threads, int size = 4096);

// The library that computes those products, such as "oneDNN 2.6.3".
const char* gemm_library_name();

// The GPU's own speed: the best of a few products of two square matrices of `size`, in 10^9 operations/s, by cuBLAS, which
// is loaded only when this is called. Its factors are float32, rounded to tf32 or bf16 if that is the
// precision. Empty if the machine has no cuBLAS or drift was built without CUDA.
struct ProductSpeed {
  double gflops;
  std::string library;  // "cuBLAS 13.0.2" or the like
};
std::optional<ProductSpeed> card_product(Precision precision, int size = 8192);

// Time per step if every call has an overhead besides its steps: on a GPU, copies to the device and back. From pairs of
// calls, one with few steps and one with many more, at least half a second of them: the difference in time is that of the steps.
struct StepTiming {
  double step_s;        // median over the pairs
  double copies_s;      // overhead of a call, median over the pairs
  std::size_t pairs;    // five or more
  std::uint64_t steps;  // in those pairs
  double seconds;       // total
};
// call(n) takes n steps and returns its duration in seconds. Measures pairs until `seconds` have passed.
StepTiming time_steps(double seconds, const std::function<double(std::size_t steps)>& call);

// Peak memory of this process so far, in MiB (2^20 bytes).
double peak_rss_mib();

// The spherical counterpart of the paper's network: its first layer's degrees average `mean_degree`.
NetworkSpec spherical_bench_spec(double mean_degree);

// Threads that a backend uses for 0: one per core available to this process.
int default_threads();

}  // namespace drift
