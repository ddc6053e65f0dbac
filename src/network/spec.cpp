#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "drift/network_spec.h"

namespace drift {
namespace {

constexpr int kMaxLayers = 1000;  // a chain; three chains' indices fit the random key's 16 bits
constexpr int kMaxFeatures = 1'000'000;
constexpr int kMaxBottleneck = 100'000;
constexpr int kMaxStructured = 2048;  // two chains' bottlenecks side by side fill the longest transform
constexpr int kMaxOutputs = 10'000;
constexpr int kMaxSpaceCoordinates = 1000;
constexpr int kMaxDenseCoordinates = 10'000;  // a neural process puts its code beside them
constexpr int kMaxWidth = 100'000;
constexpr int kMaxDegree = 10'000;

// Lengthscales, amplitudes and the head's scale stay where their squares and quotients are ordinary float32 numbers.
constexpr double kSmallest = 1e-9;
constexpr double kLargest = 1e9;

// Any positive smoothness that means something: the draw bounds the heavy tails of small ones (features/fourier.cpp), and large
// ones cannot be told from the squared exponential.
constexpr double kSmallestNu = 1e-3;
constexpr double kLargestNu = 1e6;

void check_range(const std::string& field, int value, int low, int high) {
  if (value < low || value > high) {
    throw UsageError(fmt::format("{} is {} but must be between {} and {}", field, value, low, high));
  }
}

void check_range(const std::string& field, double value, double low, double high) {
  if (!(value >= low && value <= high)) {  // NaN is refused too
    throw UsageError(fmt::format("{} is {} but must be between {} and {}", field, value, low, high));
  }
}

void check_covariance(const std::string& field, const Covariance& covariance) {
  check_range(field + ".nu", covariance.nu, kSmallestNu, kLargestNu);
}

// Every number, whether or not the network has the chain, so that a checked spec always survives the way through JSON.
void check_chain(const std::string& name, const ChainSpec& chain) {
  check_range(name + ".layers", chain.layers, 0, kMaxLayers);
  check_covariance(name + ".covariance", chain.covariance);
  check_covariance(name + ".hidden_covariance", chain.hidden_covariance);
  for (std::size_t i = 0; i < chain.lengthscales.size(); ++i) {
    check_range(fmt::format("{}.lengthscales[{}]", name, i), chain.lengthscales[i], kSmallest, kLargest);
  }
  check_range(name + ".hidden_lengthscale", chain.hidden_lengthscale, kSmallest, kLargest);
  check_range(name + ".amplitude", chain.amplitude, kSmallest, kLargest);
  check_range(name + ".hidden_amplitude", chain.hidden_amplitude, kSmallest, kLargest);
}

void check_dense(const NetworkSpec& spec, const DenseSpec& dense) {
  check_range("dense.layers", dense.layers, 1, kMaxLayers);
  check_range("dense.width", dense.width, 1, kMaxWidth);
  check_range("dense.omega", dense.omega, kSmallest, kLargest);
  check_range("dense.hidden_omega", dense.hidden_omega, kSmallest, kLargest);
  check_range("spatial.layers", spec.spatial.layers, 0, 1);  // presence of coordinates
  check_range("temporal.layers", spec.temporal.layers, 0, 1);
  check_range("joint.layers", spec.joint.layers, 0, 0);
  if (spec.coupling != Coupling::additive) {
    throw UsageError("coupling is product but a dense network always sees all coordinates together: leave it additive");
  }
}

void check_product(const NetworkSpec& spec) {
  if (spec.spatial.layers == 0) {
    throw UsageError("coupling is product but spatial.layers is 0: without space there is nothing to couple; use additive");
  }
  if (spec.temporal.layers != 1) {
    throw UsageError(fmt::format(
        "coupling is product but temporal.layers is {}: time enters the spatial chain, and 1 says that there is time; without it "
        "use additive",
        spec.temporal.layers));
  }
  if (spec.joint.layers != 0) {
    throw UsageError(
        fmt::format("coupling is product but joint.layers is {}: all layers see both space and time; make it 0 and give the "
                    "spatial chain more layers",
                    spec.joint.layers));
  }
}

void check_space(const NetworkSpec& spec) {
  const std::vector<double>& lengthscales = spec.spatial.lengthscales;
  if (spec.space == Space::sphere) {
    if (spec.space_coordinates != 3) {
      throw UsageError(fmt::format("space_coordinates is {} but must be 3 on the sphere: a unit vector", spec.space_coordinates));
    }
    if (lengthscales.size() != 1) {
      throw UsageError(
          fmt::format("spatial.lengthscales has {} entries but the sphere has one lengthscale", lengthscales.size()));
    }
    const bool arcs = !spec.dense && spec.coupling == Coupling::additive;  // else chords, whose lengthscale may be any
    if (arcs && lengthscales[0] > std::numbers::pi) {
      throw UsageError(
          fmt::format("spatial.lengthscales[0] is {} but on the sphere must be at most pi: radians of arc", lengthscales[0]));
    }
    return;
  }
  check_range("space_coordinates", spec.space_coordinates, 1, spec.dense ? kMaxDenseCoordinates : kMaxSpaceCoordinates);
  if (lengthscales.size() != 1 && lengthscales.size() != static_cast<std::size_t>(spec.space_coordinates)) {
    throw UsageError(
        fmt::format("spatial.lengthscales has {} entries but space_coordinates is {}: give one, or one for each coordinate",
                    lengthscales.size(), spec.space_coordinates));
  }
}

void check_chains_fit(const NetworkSpec& spec) {
  if (spec.spatial.layers == 0 && spec.temporal.layers == 0) {
    throw UsageError(
        "spatial.layers and temporal.layers are both 0 but a network needs at least one chain: give one of them layers");
  }
  if (spec.joint.layers > 0 && (spec.spatial.layers == 0 || spec.temporal.layers == 0)) {
    throw UsageError(fmt::format("joint.layers is {} but {}.layers is 0: joint layers need both chains", spec.joint.layers,
                                 spec.spatial.layers == 0 ? "spatial" : "temporal"));
  }
  if (spec.spatial.layers > 0) check_space(spec);
  if (spec.temporal.layers > 0 && spec.temporal.lengthscales.size() != 1) {
    throw UsageError(fmt::format("temporal.lengthscales has {} entries but time is one coordinate: give one",
                                 spec.temporal.lengthscales.size()));
  }
}

}  // namespace

void check(const NetworkSpec& spec) {
  check_chain("spatial", spec.spatial);
  check_chain("temporal", spec.temporal);
  check_chain("joint", spec.joint);
  if (spec.dense) check_dense(spec, *spec.dense);
  if (spec.coupling == Coupling::product) check_product(spec);
  check_chains_fit(spec);
  check_range("features", spec.features, 1, kMaxFeatures);
  check_range("bottleneck", spec.bottleneck, 1, kMaxBottleneck);
  if (spec.frequencies == Frequencies::structured && spec.bottleneck > kMaxStructured) {
    throw UsageError(fmt::format("bottleneck is {} but structured frequencies take at most {}: lower it, or use orthogonal ones",
                                 spec.bottleneck, kMaxStructured));
  }
  check_range("outputs", spec.outputs, 1, kMaxOutputs);
  if (spec.head_scale != 0.0 && !(spec.head_scale >= kSmallest && spec.head_scale <= kLargest)) {
    throw UsageError(fmt::format("head_scale is {} but must be 0 (1/sqrt of the head's inputs) or between {} and {}",
                                 spec.head_scale, kSmallest, kLargest));
  }
  check_range("sphere_tail_mass", spec.sphere_tail_mass, 1e-12, 0.5);
  check_range("sphere_max_degree", spec.sphere_max_degree, 1, kMaxDegree);
}

NetworkSpec default_spec(Space space, int space_coordinates, bool time) {
  NetworkSpec spec;
  spec.space = space;
  spec.space_coordinates = space_coordinates;
  const bool sphere = space == Space::sphere;
  spec.spatial.layers = 4;
  spec.spatial.lengthscales = {sphere ? 0.05 : 0.1};
  spec.temporal.layers = time ? 1 : 0;
  if (time) spec.coupling = Coupling::product;
  check(spec);
  return spec;
}

NetworkSpec dense_spec(Space space, int space_coordinates, bool time, const DenseSpec& dense) {
  NetworkSpec spec;
  spec.space = space;
  spec.space_coordinates = space_coordinates;
  spec.spatial.layers = 1;
  spec.spatial.covariance.family = Family::squared_exponential;
  spec.temporal.layers = time ? 1 : 0;
  spec.features = dense.width;
  spec.frequencies = Frequencies::independent;
  spec.dense = dense;
  check(spec);
  return spec;
}

NetworkSpec paper_spec(double space_lengthscale, double time_lengthscale, double amplitude) {
  NetworkSpec spec;
  // The plan multiplies hidden lengthscales by sqrt(bottleneck): dividing here gives the paper's absolute one back.
  const double unit = std::sqrt(static_cast<double>(spec.bottleneck));
  const auto chain = [&](int layers, double lengthscale) {
    ChainSpec result;
    result.layers = layers;
    result.lengthscales = {lengthscale};
    result.hidden_lengthscale = lengthscale / unit;
    result.amplitude = amplitude;
    result.hidden_amplitude = amplitude;
    return result;
  };
  spec.spatial = chain(4, space_lengthscale);
  spec.temporal = chain(1, time_lengthscale);
  spec.frequencies = Frequencies::independent;
  spec.head_scale = 1.0;
  check(spec);
  return spec;
}

}  // namespace drift
