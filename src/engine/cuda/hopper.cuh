#pragma once

// Hopper's instructions behind names: bulk copies into shared memory that complete on barriers, and wgmma with its left factor in
// registers. PTX ISA 9.0, "Asynchronous warpgroup level matrix instructions".

#include <cstdint>
#include <type_traits>

#include "engine/cuda/factors.cuh"

namespace drift::cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define DRIFT_WGMMA 1
#endif

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

#ifdef DRIFT_WGMMA

__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void barrier_expect(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nWAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE;\nbra WAIT;\nDONE:\n}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
// `bytes` a multiple of 16.
__device__ __forceinline__ void bulk_copy(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// Shared memory written by threads is read by bulk copies or wgmma once the writers have said this and met at a barrier.
__device__ __forceinline__ void async_fence() { asm volatile("fence.proxy.async;" ::: "memory"); }
// From shared memory, by one thread; `bytes` a multiple of 16. It may be written again after bulk_stores_read.
__device__ __forceinline__ void bulk_store(void* to, const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_stores_read() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

// All threads of a cluster of blocks.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The same place in the shared memory of another block of the cluster.
template <class T>
__device__ __forceinline__ T* in_block(T* shared, int rank) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}

// Of a K-major panel with rows of 128 bytes, 16-byte chunks exchanged, at a multiple of 1024 bytes (+ 32 for each step of k).
__device__ __forceinline__ std::uint64_t panel_descriptor(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | (std::uint64_t{1} << 16) | (std::uint64_t{64} << 32) |
         (std::uint64_t{1} << 62);
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
// Two warpgroups take turns at the tensor cores: while one multiplies, the other takes cosines. Left alone they would fall into
// step. Named barriers 1 and 2 say whose turn it is.
__device__ __forceinline__ void await_turn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ __forceinline__ void pass_turn(int group) { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); }
__device__ __forceinline__ void sync_both_groups() { asm volatile("bar.sync 3, 256;" ::: "memory"); }
__device__ __forceinline__ void sync_group(int group) { asm volatile("bar.sync %0, 128;" ::"r"(4 + group) : "memory"); }
// Tells the compiler that registers are written behind its back.
template <int kCount>
__device__ __forceinline__ void touch(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int kCount>
__device__ __forceinline__ void touch(std::uint32_t (&a)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(a[i])::"memory");
}

// `Factors` as in factors.cuh, k its kInner. The left factor is in registers, the right one K-major.
#define DRIFT_32_REGISTERS                                                 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define DRIFT_64_REGISTERS                                                             \
  DRIFT_32_REGISTERS                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define DRIFT_32_SUMS                                                                                                      \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),  \
      "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), \
      "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define DRIFT_64_SUMS                                                                                                      \
  DRIFT_32_SUMS, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),   \
      "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), \
      "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), \
      "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define DRIFT_WGMMA_N64(kinds, flags)                                                                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64" kinds " {" DRIFT_32_REGISTERS \
               "}, {%32, %33, %34, %35}, %36, p, 1, 1" flags ";\n}\n"                                                        \
               : DRIFT_32_SUMS                                                                                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))
#define DRIFT_WGMMA_N128(kinds, flags)                                                                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128" kinds " {" DRIFT_64_REGISTERS \
               "}, {%64, %65, %66, %67}, %68, p, 1, 1" flags ";\n}\n"                                                         \
               : DRIFT_64_SUMS                                                                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))

// D [64, 64] (+)= A [64, k] . B [k, 64]
template <class Factors>
__device__ __forceinline__ void wgmma(float (&d)[32], const std::uint32_t* a, std::uint64_t b, int add) {
  if constexpr (std::is_same_v<Factors, Bf16>) {
    DRIFT_WGMMA_N64("k16.f32.bf16.bf16", ", 0");
  } else {
    DRIFT_WGMMA_N64("k8.f32.tf32.tf32", "");
  }
}
// D [64, 128] (+)= A [64, k] . B [k, 128]
template <class Factors>
__device__ __forceinline__ void wgmma(float (&d)[64], const std::uint32_t* a, std::uint64_t b, int add) {
  if constexpr (std::is_same_v<Factors, Bf16>) {
    DRIFT_WGMMA_N128("k16.f32.bf16.bf16", ", 0");
  } else {
    DRIFT_WGMMA_N128("k8.f32.tf32.tf32", "");
  }
}
// The same in tf32 with A in shared memory, laid out as B is.
__device__ __forceinline__ void wgmma_shared(float (&d)[64], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" DRIFT_64_REGISTERS "}, %64, %65, p, 1, 1;\n}\n"
      : DRIFT_64_SUMS
      : "l"(a), "l"(b), "r"(add));
}
#undef DRIFT_WGMMA_N64
#undef DRIFT_WGMMA_N128
#undef DRIFT_32_REGISTERS
#undef DRIFT_64_REGISTERS
#undef DRIFT_32_SUMS
#undef DRIFT_64_SUMS

#endif  // DRIFT_WGMMA

}  // namespace drift::cuda
