#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drift/network_spec.h"

namespace drift {

// How a spec becomes layers: who feeds whom, and where each tensor lies in a member's two flat arrays. Engines follow the plan
// and know nothing of specs.
//
// With u the layer's hidden input divided by its lengthscale, x~ the coordinates divided by theirs and s a unit vector,
//   phase   = u . hidden_frequencies + x~ . coordinate_frequencies + phases            (in turns: 1 is a full circle)
//   feature = amplitude sqrt(2) cos(2 pi phase) + sphere_amplitude sqrt(2 n + 1) P_n(s . pole)    (either part may be absent)
//   output  = feature . bottleneck / sqrt(features)

enum class ChainId { spatial, temporal, joint };

inline constexpr int kNone = -1;    // no such hyperparameter
inline constexpr int kHead = -2;    // the output goes to the linear head
inline constexpr int kOutput = -3;  // the output is the network's

struct TensorInfo {
  std::string name;                // "spatial.0.bottleneck"
  std::vector<std::size_t> shape;  // row-major
  std::size_t offset;              // in floats, a multiple of 16

  std::size_t size() const;
};

// A positive number that may be trained: its value is `value` times the exponential of an entry of the member's parameters.
struct Hyperparameter {
  std::string name;     // "spatial.lengthscale.0", "joint.hidden_amplitude"
  double value;         // in absolute units: hidden lengthscales already carry their sqrt(n)
  bool is_lengthscale;  // else an amplitude
};

struct LayerPlan {
  std::string name;  // "spatial.0"
  ChainId chain;
  int position;  // in its chain; 0 is the first

  int hidden;            // entries from the bottlenecks before it; 0 in a chain's first layer
  int first_coordinate;  // the Euclidean coordinates it sees: [first_coordinate, first_coordinate + coordinates)
  int coordinates;
  bool structured;  // hidden frequencies as signs and lengths (features/structured.h), not as a matrix
  bool sphere;      // sees the unit vector in coordinates 0..2 through spherical features
  int features;
  int outputs;
  Covariance covariance;         // of the planar part
  Covariance sphere_covariance;  // of the spherical part

  int next;         // the layer that takes the output as hidden input, or kHead, or kOutput
  int next_column;  // first column of the output there

  // Offsets into Member::fixed; meaningful where the part exists.
  std::size_t hidden_frequencies;      // [hidden, features]; or, where structured:
  std::size_t hidden_signs;            // [3 blocks, n]
  std::size_t hidden_lengths;          // [blocks n]
  std::size_t coordinate_frequencies;  // [coordinates, features]
  std::size_t phases;                  // [features]
  std::size_t degrees;                 // [features], whole numbers
  std::size_t poles;                   // [3, features], unit columns
  // Offset into Member::parameters.
  std::size_t bottleneck;  // [features, outputs]

  // Indices into Plan::hyperparameters, kNone where the part is absent.
  int amplitude;           // of the planar part
  int sphere_amplitude;    // of the spherical part
  int sphere_lengthscale;  // radians
  int hidden_lengthscale;

  bool planar() const { return hidden > 0 || coordinates > 0; }
};

struct Plan {
  NetworkSpec spec;
  int coordinates;                // of an observation
  std::vector<LayerPlan> layers;  // every layer after those that feed it
  bool has_head;
  int head_inputs;
  std::size_t head;   // offset into Member::parameters: [head_inputs, outputs]
  double head_scale;  // f = head_scale * (inputs . head)
  std::vector<Hyperparameter> hyperparameters;
  std::size_t hyper;                        // offset into Member::parameters: the logarithms of the multipliers, zero when drawn
  std::vector<int> coordinate_lengthscale;  // [coordinates] index of each one's lengthscale, kNone for a unit vector's entries

  std::vector<TensorInfo> fixed_tensors;
  std::vector<TensorInfo> parameter_tensors;
  std::size_t fixed_size;      // floats
  std::size_t parameter_size;  // floats

  // Hidden entries that enter `next`, kHead included.
  int inputs_of(int next) const;
};

// Checks the spec (UsageError) and lays the network out.
Plan make_plan(const NetworkSpec& spec);

}  // namespace drift
