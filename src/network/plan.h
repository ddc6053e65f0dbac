#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drift/network_spec.h"

namespace drift {

// The layers of a spec: which feeds which, and where each tensor lies in a member's two flat arrays. Engines follow the plan
// and know nothing of specs.
//
// With u the layer's hidden input divided by its lengthscale, x~ the coordinates divided by theirs and s a unit vector,
//   phase   = u . hidden_frequencies + x~ . coordinate_frequencies + phases            (in turns: 1 is a full circle)
//   feature = amplitude sqrt(2) cos(2 pi phase) + sphere_amplitude sqrt(2 n + 1) P_n(s . pole)    (either part may be absent)
//   output  = feature . bottleneck / sqrt(features)
//
// Coordinates that the cosines of one layer see side by side have one draw of frequencies, the multivariate t for Matérn, and so
// a covariance of their joint distance. With product coupling time is the last of them and has a draw of its own
// (separate_time): E[cos(2 pi (x~ . v + t~ w + b)) ...] over independent v and w is k(x, x') k(t, t'). On the sphere the three
// entries of the unit vector are then plain coordinates with one lengthscale: the covariance is that of the chord |s - s'|, and
// layers have no spherical part.
//
// A dense network (NetworkSpec::dense) is one chain of layers of the same kind, "features, then a trained matrix", with simpler
// features, no division and a bias. Its first layer has the features
//   feature = x                                  (kind coordinates: as they are; on the sphere the unit vector, then time)
// or, with Fourier inputs, the cosines above of all coordinates (kind random, hidden = 0, sphere = false); every later one, with
// z the output of the layer before, hidden = features = width,
//   feature = max(z, 0)                          (kind relu; its slope at z = 0 is 0)
//   feature = sin(omega z)                       (kind sine)
// and each of them
//   output  = feature . W + b,   W the first `features` rows of the bottleneck and b its last one.
// Dropout leaves out features, neither coordinates nor b. Variational weights are W's and b's: the output's variance is
// feature^2 . S_W^2 + S_b^2. Weight decay is on both. Muon takes W of the layers between the first and the last, Adam the rest
// (train/update_groups.h).

enum class ChainId { spatial, temporal, joint, dense };

// Kind of a layer's features.
enum class FeatureKind { random, coordinates, relu, sine };

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
  FeatureKind kind;

  int hidden;            // entries from the bottlenecks before it; 0 in a chain's first layer
  int first_coordinate;  // the Euclidean coordinates it sees: [first_coordinate, first_coordinate + coordinates)
  int coordinates;
  bool separate_time;  // the last coordinate is time, with frequencies from a draw of its own
  double omega;        // of kind sine
  bool structured;     // hidden frequencies as signs and lengths (features/structured.h), not as a matrix
  bool sphere;         // sees the unit vector in coordinates 0..2 through spherical features
  int features;
  int outputs;
  bool bias;                     // the bottleneck has one row more, which is added to the output
  double divisor;                // output = feature . bottleneck / divisor: sqrt(features), or 1 in a dense network
  Covariance covariance;         // of the planar part, less separate time
  Covariance time_covariance;    // of separate time
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
  std::size_t bottleneck;  // [features, outputs], or [features + 1, outputs] with bias

  // Indices into Plan::hyperparameters, kNone where the part is absent.
  int amplitude;           // of the planar part
  int sphere_amplitude;    // of the spherical part
  int sphere_lengthscale;  // radians
  int hidden_lengthscale;

  bool planar() const { return kind == FeatureKind::random && (hidden > 0 || coordinates > 0); }  // has cosine features
  bool activation() const { return kind == FeatureKind::relu || kind == FeatureKind::sine; }
  int matrix_rows() const { return features + (bias ? 1 : 0); }
};

struct Plan {
  NetworkSpec spec;
  int coordinates;                // of an observation
  bool unit_vector;               // the unit vector's entries 0..2 are taken as plain coordinates: gradients are made tangent
  std::vector<LayerPlan> layers;  // every layer after those that feed it
  bool has_head;
  int head_inputs;
  std::size_t head;                             // offset into Member::parameters: [head_inputs, outputs]
  double head_scale;                            // f = head_scale * (inputs . head)
  std::vector<Hyperparameter> hyperparameters;  // none in a dense network of coordinates
  std::size_t hyper;                        // offset into Member::parameters: the logarithms of the multipliers, zero when drawn
  std::vector<int> coordinate_lengthscale;  // [coordinates] index of each one's lengthscale, kNone where it has none

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
