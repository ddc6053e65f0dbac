#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace drift {

// What the spatial chain's coordinates are.
enum class Space {
  plane,   // any number of Cartesian coordinates
  sphere,  // three: a unit vector
};

// The covariance whose random features a layer uses.
enum class Family {
  matern,
  squared_exponential,  // on the sphere: the heat covariance, its analogue there
};

struct Covariance {
  Family family = Family::matern;
  double nu = 1.5;  // > 0, Matérn's smoothness; ignored by the squared exponential

  bool operator==(const Covariance&) const = default;
};

// How the frequencies of the planar features are drawn.
enum class Frequencies {
  independent,  // each on its own, as in the paper
  orthogonal,   // in orthogonal blocks: the same covariance on average, with lower error for the same number (Yu et al. 2016)
  structured,   // orthogonal blocks for the hidden inputs made of Hadamard matrices and signs: as good, and several times faster
};

// A chain of layers, each of them fixed random features followed by a trained bottleneck. The first layer sees coordinates;
// the later ones ("hidden") see the bottleneck before them and, with skip connections, the coordinates again.
// Coordinates are taken as they come to the engine: standardised on the plane, radians of arc on the sphere.
struct ChainSpec {
  int layers = 0;                            // 0: the network has no such chain
  Covariance covariance;                     // of the first layer
  Covariance hidden_covariance;              // of the later layers
  std::vector<double> lengthscales = {1.0};  // of the coordinates: one for all, or one each; also where skips bring them back in
  double hidden_lengthscale = 1.0;           // of the bottleneck's n entries, in units of sqrt(n)
  double amplitude = 1.0;                    // of the first layer, and of the spherical part of additive layers
  double hidden_amplitude = 1.0;             // of the later layers

  bool operator==(const ChainSpec&) const = default;
};

// What a network is, as plain data. f(x, t) = head [spatial chain(x), temporal chain(t)], or joint layers in the head's place.
// A network with one chain only has no head: its last layer maps its features to the outputs.
struct NetworkSpec {
  Space space = Space::plane;
  int space_coordinates = 2;  // on the sphere always 3
  ChainSpec spatial;          // layers = 0: time only
  ChainSpec temporal;         // layers = 0: space only
  ChainSpec joint;            // after the two chains; layers = 0: a linear head; only its hidden_* settings matter
  int features = 1000;        // H, a layer
  int bottleneck = 128;       // B, entries between layers
  int outputs = 1;            // O
  bool skip = true;           // coordinates enter every layer of their chain, not the first alone
  Frequencies frequencies = Frequencies::structured;
  double head_scale = 0.0;         // factor on the linear head's output; 0: 1/sqrt(its inputs); the paper has 1
  double sphere_tail_mass = 1e-3;  // share of the spherical covariance's variance beyond the highest degree kept
  int sphere_max_degree = 2000;    // upper limit of that degree

  // Coordinates an observation has: the spatial ones, then time.
  int coordinates() const { return (spatial.layers > 0 ? space_coordinates : 0) + (temporal.layers > 0 ? 1 : 0); }
  bool operator==(const NetworkSpec&) const = default;
};

// Throws UsageError, naming the field, unless every number is in its range and the chains fit together.
void check(const NetworkSpec& spec);

// drift's own settings for the given coordinates: separate, well-conditioned lengthscales (docs/design.md).
NetworkSpec default_spec(Space space, int space_coordinates, bool time);

// The paper's experiment-1 form: one lengthscale for every spatial layer, hidden ones and skips included, one for time,
// one amplitude everywhere, independent Matérn-3/2 frequencies, an unscaled head; four spatial layers and one temporal.
NetworkSpec paper_spec(double space_lengthscale, double time_lengthscale, double amplitude);

std::string to_json(const NetworkSpec& spec);
NetworkSpec network_spec_from_json(const std::string& text);  // throws Error on unknown or missing keys

}  // namespace drift
