#pragma once

#include "drift/network_spec.h"

namespace drift {

// What `drift bench` measures against.

// Floating-point operations of the dense method, two for each multiply-add, for one observation and one member. Prediction: the
// frequencies' and the bottlenecks' products. Training adds the weight gradient of every bottleneck and of the head, and, for
// layers that have trained layers below them, the gradients with respect to their features and to their hidden input.
// A dense network's layers have the product with their matrix alone. Cosines, Legendre recurrences, activations, biases and the
// optimiser are not counted.
double prediction_flops(const NetworkSpec& spec);
double training_flops(const NetworkSpec& spec);

// The machine's own speed: the best of a few single-precision products of two square matrices of `size`, on `threads` threads,
// in 10^9 operations a second.
double gemm_gflops(int threads, int size = 4096);

// What does those products: "oneDNN 2.6.3" or the like.
const char* gemm_library_name();

// Most memory this process has held at once so far, in MiB (2^20 bytes).
double peak_rss_mib();

// The spherical counterpart of the paper's network: its first layer's degrees average `mean_degree`.
NetworkSpec spherical_bench_spec(double mean_degree);

// Threads a backend uses when told 0: one for each core this process may use.
int default_threads();

}  // namespace drift
