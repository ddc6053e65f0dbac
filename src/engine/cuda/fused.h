#pragma once

#include <cstdint>

#include "drift/engine.h"
#include "drift/recipe.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels.h"

namespace drift::cuda {

// Training and prediction on Hopper's own matrix instructions (wgmma, in tf32 or bf16), for networks whose layers have 128 hidden
// entries (or none) and 128 outputs, that is, drift's and the paper's. A layer is one kernel forward and two backward; cosines
// are never written to memory. What is kept of the forward pass are the phases, 16 bits each: a fraction of a turn to 2^-17,
// finer than tf32's rounding of what went into them. Spherical features depend on the points alone and cost more: one more kernel
// a layer writes them, as halves, over the cosines' amplitude; layers add them to their cosines.
//
// Units. Rows go in blocks of 64 (a warpgroup's), features in tiles of 64, the last one filled up with zeros.
//
// Fragments. A block [64, 128] of numbers between two kernels is kept as wgmma's accumulators have it: thread t of the warpgroup
// holds, for each of 16 groups of 8 columns, the four numbers (g, 2c), (g, 2c + 1), (g + 8, 2c), (g + 8, 2c + 1), row 16 w + g,
// w = t / 32, g = t % 32 / 4, c = t % 4; memory has float4[16][128]. As the left factor of the next product the same thread wants
// (g, c), (g + 8, c), (g, c + 4), (g + 8, c + 4): the same numbers once the 8 columns are taken in the order 0 2 4 6 1 3 5 7. So
// the right factors are stored with their inner index in that order, and a fragment goes from one product to the next as it is.
// In bf16 the numbers' own order is the one that is wanted (factors.cuh).
//
// Images. Right factors lie in memory as wgmma wants them in shared memory: K-major panels of 128 bytes (32 numbers, or 64 of
// bf16) by 64 or 128 rows, 16-byte chunks exchanged by the row's last three bits. One bulk copy of 32 or 16 KiB brings a tile in.
//   rows image      of M [H, 128]: a tile is 64 rows of M by 4 panels of columns, or 2
//   columns image   of M [H, 128]: a tile is 128 columns of M, as rows, by 2 panels of H, or 1
// `precision` selects one of the two for a kernel: tf32 or bf16.
inline constexpr int kFusedWidth = 128;
inline constexpr int kFusedTile = 64;          // features
inline constexpr int kFusedRows = 64;          // of a block
inline constexpr int kTileEntries = 64 * 128;  // of a tile's matrix, and of a fragment block
using ImageWord = std::uint32_t;               // one number of an image in tf32, or two in bf16
// Of a tile's image.
constexpr int image_words(Precision precision) { return precision == Precision::bf16 ? kTileEntries / 2 : kTileEntries; }
inline constexpr int kMaxFusedCoordinates = 4;  // a unit vector and time
inline constexpr int kMaxFusedLayers = 12;
inline constexpr int kMaxFolded = 2;  // layers that feed the head

// How a layer's work, `tiles` tiles for each of `pairs` pairs of row blocks, is divided among `blocks` blocks of threads: first
// whole pairs, one for each block in each of `rounds` rounds, so that neighbours read the same weights at the same time; what is
// left then evenly, `tail` blocks taking a run of tiles each. A pair's sum may so come in parts, at most kMaxParts of them, one
// from each block that had a share; part 0 is the first one's.
inline constexpr int kMaxParts = 4;
struct Division {
  int pairs, tiles, blocks, rounds, tail;
};

// A number of the member: constant * first * second, of which either may be none (data is nullptr).
struct MemberFactor {
  ConstMatrices first = {}, second = {};
  float constant = 1;
};

// Partial sums of fragment blocks, [parts, members, row blocks, kTileEntries], times a factor.
struct Fragments {
  float* data = nullptr;
  Division division = {};  // blocks is 0: one part
  MemberFactor factor = {};
};

// The layers that feed the head (or are the network's last) and the head are all linear in their features, and the network has
// one output: y = sum over these layers of factor feature . q, with q = Theta . o, o the layer's part of the head. So the product
// with Theta, the largest of a layer, is never made there, and with s = dL / dy
//   g = feature^T s,   dL / d Theta = factor g o^T,   dL / d o = factor Theta^T g,   dL / d feature = factor s q^T.
// These layers are folded (fused_fold.cu). Where there is no head Theta is a column, and q is Theta itself.
struct Folded {
  const float* q = nullptr;  // [members, tiles, 64], zeros beyond the features
  // Forward: feature . q of the rows, [parts, members, row blocks * 64].
  float* row_sums = nullptr;
  // Backward: s, [members, capacity], 0 in rows that only fill up.
  const float* slopes = nullptr;
  std::size_t capacity = 0;
};

struct FusedForward {
  Precision precision;
  int members, row_blocks;
  Division division;
  Fragments input;               // none: data is nullptr
  ConstMatrices coordinates;     // [rows, coordinate_count], over their lengthscales
  int coordinate_count;          // where there are neither these nor an input, `added` alone
  const float* coefficients;     // [members, tiles, (coordinate_count + 1), 64]: phases, then frequencies
  const ImageWord* frequencies;  // rows image of W^T [features, 128]
  const uint4* added;            // halves in the phases' places, added to the cosines; or nullptr. Then no coordinates
  const ImageWord* bottleneck;   // columns image of Theta [features, 128]; nullptr: folded
  float* output;                 // fragments: (cos + added) . Theta
  Folded folded;
  uint4* phases;  // [members, row blocks, tiles, 512], or nullptr: not kept
};
void fused_forward(const FusedForward& f, cudaStream_t stream);

// (sin * (d_output . Theta^T)) . W^T
struct FusedBackward {
  Precision precision;
  int members, row_blocks;
  Division division;
  Fragments output_gradient;
  const ImageWord* bottleneck;   // rows image; nullptr: folded
  Folded folded;                 // d_output . Theta^T is s q^T
  const ImageWord* frequencies;  // columns image of W^T
  const uint4* phases;
  float* input_gradient;  // fragments
};
void fused_backward(const FusedBackward& f, cudaStream_t stream);

// A spherical feature P_n(s . b) with all that depends on n and b alone.
struct alignas(16) SphericalFeature {
  float x, y, z;                                  // b
  float middle;                                   // n + 1/2
  float amplitude, least_squared_sine, ratio[2];  // of the expansion (legendre.cuh), with the scale
  float scale;
  std::uint32_t odd;  // the sign bit where n is odd, else 0
};
// Zeros beyond `features` up to whole tiles. The scales are divided by the member's `divisor`, where there is one.
void make_spherical(int members, int features, int tiles, const ConstMatrices& poles, const ConstMatrices& degrees,
                    const ConstMatrices& scales, const ConstMatrices& divisor, SphericalFeature* to, cudaStream_t stream);

// Spherical features of all rows, as halves in the places where phases are kept: to 1e-4 of their amplitude, less than rounding
// to a half may change them, beside the rounding of the angle, n times 1e-7.
struct FusedSphere {
  int members, row_blocks, tiles;
  ConstMatrices points;              // [rows, 3]
  const SphericalFeature* features;  // [members, tiles, 64]
  uint4* halves;                     // [members, row blocks, tiles, 512]
};
void fused_sphere(const FusedSphere& s, cudaStream_t stream);

// Adam (engine/cpu/kernels.h) of all members.
struct FusedAdam {
  const StepNumbers* numbers;  // [members]; nullptr: none
  float beta1, beta2, epsilon;
  float* weights;  // [members, weights_stride]
  std::size_t weights_stride;
  float* moment1;  // [members, gradient_stride]
  float* moment2;
  std::size_t gradient_stride;
};

// gradient [features, 128] = factor (cos + added)^T . d_output, of several layers in one launch; or, with Adam, the new weights
// and their images at once, the gradient never leaving the registers.
struct FusedWeightGradient {
  struct Layer {
    const uint4* phases;               // nullptr: `added` alone
    const uint4* added;                // halves in the phases' places, added to the cosines; or nullptr
    const ImageWord* output_gradient;  // transposed images, [members, row blocks]
    MemberFactor factor;
    float* gradient;  // of the first member
    int features;
    // With Adam:
    std::size_t offset;  // of the bottleneck in a member's parameters
    ImageWord* rows_image;
    ImageWord* columns_image;
  };
  Precision precision;
  int layers, members, row_blocks, tiles;
  std::size_t gradient_stride;  // between members
  bool accumulate;
  FusedAdam adam;
  Layer layer[kMaxFusedLayers];
};
void fused_weight_gradient(const FusedWeightGradient& f, cudaStream_t stream);

// Transposed images of fragments: a row block's [128, 64 rows], as a columns image.
void transpose_fragments(const Fragments& from, Precision precision, int members, int row_blocks, ImageWord* images,
                         cudaStream_t stream);

// Both images of M [features, 128] for every member; M[h, j] = data[h * row + j * column]. Either may be nullptr.
struct MakeImages {
  Precision precision;
  int members, features, tiles;
  const float* data;
  std::size_t row, column, member_stride;
  ImageWord* rows_image;
  ImageWord* columns_image;
};
void make_images(const MakeImages& m, cudaStream_t stream);
void make_coefficients(int members, int features, int tiles, int coordinates, const ConstMatrices& phases,
                       const ConstMatrices& frequencies, float* coefficients, cudaStream_t stream);

// q = Theta . o of a folded layer.
struct Fold {
  int members, features, tiles;
  ConstMatrices bottleneck;  // [features, width]
  ConstMatrices head;        // [width]; none: width is 1
  float* q;
};
void fold(const Fold& f, cudaStream_t stream);

// The outputs, summed over the folded layers, and the loss.
struct RowSums {
  const float* data = nullptr;
  Division division = {};
  MemberFactor factor = {};
};
struct FusedHead {
  int members, row_blocks, rows;
  int sides;  // folded layers
  RowSums input[kMaxFolded];
  float* output;  // [members, capacity]
  std::size_t capacity;
  LossTarget target;  // no values: prediction only. A partial for each row block
  float* slopes;      // [members, capacity]
};
void fused_head(const FusedHead& h, cudaStream_t stream);

// g (+)= (cos + added)^T s of a folded layer.
struct FeatureSums {
  int members, row_blocks, tiles;
  const uint4* phases;  // nullptr: `added` alone
  const uint4* added;   // halves in the phases' places, added to the cosines; or nullptr
  const float* slopes;
  std::size_t capacity;
  float* sums;  // [members, tiles, 64]
  bool accumulate;
};
void feature_sums(const FeatureSums& f, cudaStream_t stream);

// Gradients of a folded layer and of its part of the head from g: factor g o^T to memory or, with Adam, the new weights at once.
struct FoldedGradient {
  int members, features, tiles;
  const float* sums;  // g
  MemberFactor factor;
  ConstMatrices bottleneck;
  ConstMatrices head;           // none: the gradient is factor g, and Adam does not come in
  float* gradient;              // [features, width] of the first member
  std::size_t gradient_stride;  // between members
  FusedAdam adam;
  std::size_t offset;   // of the bottleneck in a member's parameters
  float* head_partial;  // [members, tiles, partial_width]: each tile's share of factor Theta^T g
  int partial_width;
};
void folded_gradient(const FoldedGradient& f, cudaStream_t stream);
// gradient[count] = sum over tiles of partial [members, tiles, count]
void sum_head_partials(const float* partial, int members, int tiles, int count, float* gradient, std::size_t stride,
                       cudaStream_t stream);

}  // namespace drift::cuda
