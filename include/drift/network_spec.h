#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "drift/enum_words.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Coordinates of the spatial chain.
enum class Space {
  plane,   // any number of Cartesian coordinates
  sphere,  // three: a unit vector
};

// The covariance whose random features a layer uses.
enum class Family {
  matern,
  squared_exponential,  // on the sphere: the heat covariance, its analogue there
};
constexpr auto enum_words(Family) {
  return std::to_array<EnumWord<Family>>({{"matern", Family::matern}, {"squared_exponential", Family::squared_exponential}});
}

struct Covariance {
  Family family = Family::matern;
  double nu = 1.5;  // > 0, Matérn's smoothness; ignored by the squared exponential

  bool operator==(const Covariance&) const = default;
};

// Ways of drawing the frequencies of planar features.
enum class Frequencies {
  independent,  // independently, as in the paper
  orthogonal,   // in orthogonal blocks: the same covariance on average, with lower error for the same number (Yu et al. 2016)
  structured,   // orthogonal blocks for the hidden inputs made of Hadamard matrices and signs: as good, and several times faster
};
constexpr auto enum_words(Frequencies) {
  return std::to_array<EnumWord<Frequencies>>({{"independent", Frequencies::independent},
                                               {"orthogonal", Frequencies::orthogonal},
                                               {"structured", Frequencies::structured}});
}

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

// Activations of dense layers.
enum class Activation {
  relu,  // max(z, 0)
  sine,  // sin(omega z): SIREN (Sitzmann et al. 2020)
};

// Input of the first trained matrix of a dense network.
enum class DenseInput {
  coordinates,  // the coordinates as they are; on the sphere the unit vector
  fourier,      // `features` random Fourier features of all coordinates together (Tancik et al. 2020)
};

// A fully connected network in place of the chains: input, then `layers` times a trained matrix and the activation, then a last
// matrix to the outputs. Drawn so that activations keep their variance with depth (src/network/draw.cpp).
struct DenseSpec {
  int layers = 4;  // >= 1, hidden ones: the activations; there is one trained matrix more
  int width = 512;
  Activation activation = Activation::relu;
  double omega = 30.0;         // of the first sine. The paper of SIREN has 30 for coordinates within [-1, 1]
  double hidden_omega = 30.0;  // of the later ones
  DenseInput input = DenseInput::coordinates;
  bool bias = true;  // every trained matrix adds one

  bool operator==(const DenseSpec&) const = default;
};

// Coupling of space and time.
enum class Coupling {
  additive,  // a chain of each and a linear head: f(x, t) = g(x) + h(t), as in the paper. Nothing can move
  product,   // one chain that sees both through k(x, x') k(t, t'): fields that move
};
constexpr auto enum_words(Coupling) {
  return std::to_array<EnumWord<Coupling>>({{"additive", Coupling::additive}, {"product", Coupling::product}});
}

// A network as plain data. f(x, t) = head [spatial chain(x), temporal chain(t)], or joint layers in the head's place.
// A network with one chain only has no head: its last layer maps its features to the outputs. That is also the form of product
// coupling, where the spatial chain sees time as well. There temporal.layers is 1, and of the temporal chain only its lengthscale
// and its covariance matter. On the sphere the distance is then the chord |s - s'|, which is as good as the arc up to a radian or
// so and makes the product exact (network/plan.h).
struct NetworkSpec {
  Space space = Space::plane;
  int space_coordinates = 2;  // on the sphere always 3
  ChainSpec spatial;          // layers = 0: time only
  ChainSpec temporal;         // layers = 0: space only
  ChainSpec joint;            // after the two chains; layers = 0: a linear head; only its hidden_* settings matter
  Coupling coupling = Coupling::additive;
  int features = 1000;   // H, per layer
  int bottleneck = 128;  // B, entries between layers
  int outputs = 1;       // O
  bool skip = true;      // coordinates enter every layer of their chain, not the first alone
  Frequencies frequencies = Frequencies::structured;
  double head_scale = 0.0;         // factor on the linear head's output; 0: 1/sqrt(its inputs); the paper has 1
  double sphere_tail_mass = 1e-3;  // share of the spherical covariance's variance beyond the highest degree kept
  int sphere_max_degree = 2000;    // upper limit of that degree
  // A dense network. Of the rest, outputs, space and space_coordinates hold as before; spatial.layers and temporal.layers, each 0
  // or 1, say which coordinates there are. Fourier inputs have `features` features, spatial.covariance, spatial.amplitude, the
  // spatial lengthscales (planar also on the sphere, where they are of the unit vector's entries) and the temporal one.
  std::optional<DenseSpec> dense;

  // Coordinates an observation has: the spatial ones, then time.
  int coordinates() const { return (spatial.layers > 0 ? space_coordinates : 0) + (temporal.layers > 0 ? 1 : 0); }
  bool operator==(const NetworkSpec&) const = default;
};

// Throws UsageError, naming the field, unless every number is in its range and the chains fit together.
void check(const NetworkSpec& spec);

// drift's own settings for the given coordinates: separate, well-conditioned lengthscales (docs/notes/defaults.md); with time,
// the product coupling.
NetworkSpec default_spec(Space space, int space_coordinates, bool time);

// The paper's experiment-1 form: one lengthscale for every spatial layer, hidden ones and skips included, one for time,
// one amplitude everywhere, independent Matérn-3/2 frequencies, an unscaled head; four spatial layers and one temporal.
NetworkSpec paper_spec(double space_lengthscale, double time_lengthscale, double amplitude);

// A dense network of the given coordinates; Fourier features with lengthscale 1.
NetworkSpec dense_spec(Space space, int space_coordinates, bool time, const DenseSpec& dense);

std::string to_json(const NetworkSpec& spec);
NetworkSpec network_spec_from_json(const std::string& text);  // throws Error on unknown or missing keys

}  // namespace drift
