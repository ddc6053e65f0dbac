#include "network/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "features/fourier.h"
#include "features/structured.h"

namespace drift {
namespace {

constexpr std::size_t kMaxMembers = 100'000;

RandomKey layer_key(std::uint64_t seed, std::uint32_t member, std::size_t layer) {
  RandomKey key;
  key.seed = seed;
  key.member = member;
  key.layer = static_cast<std::uint16_t>(layer);
  return key;
}

// Coordinates that are drawn together, and with the hidden entries.
std::size_t joint_coordinates(const LayerPlan& layer) {
  return static_cast<std::size_t>(layer.coordinates) - (layer.separate_time ? 1 : 0);
}

void draw_hadamard(const LayerPlan& layer, const RandomKey& key, std::vector<float>& fixed) {
  const auto hidden = static_cast<std::size_t>(layer.hidden);
  const auto features = static_cast<std::size_t>(layer.features);
  const std::size_t n = hadamard_size(hidden);
  const std::size_t blocks = hadamard_blocks(hidden, features);
  draw_structured({layer.covariance, Frequencies::structured, key}, hidden,
                  {.signs = {fixed.data() + layer.hidden_signs, 3 * blocks, n},
                   .lengths = {fixed.data() + layer.hidden_lengths, blocks * n},
                   .coordinates = {fixed.data() + layer.coordinate_frequencies, joint_coordinates(layer), features},
                   .phases = {fixed.data() + layer.phases, features}});
}

// The layer's planar input is [hidden entries, coordinates]: one draw over all of its dimensions, so that a Matérn feature has
// one chi-squared divisor for both parts.
void draw_jointly(const Plan& plan, const LayerPlan& layer, const RandomKey& key, std::vector<float>& fixed) {
  const std::size_t features = static_cast<std::size_t>(layer.features);
  if (layer.structured) return draw_hadamard(layer, key, fixed);
  const std::size_t hidden = static_cast<std::size_t>(layer.hidden) * features;
  const std::size_t dimensions = static_cast<std::size_t>(layer.hidden) + joint_coordinates(layer);
  std::vector<float> frequencies(dimensions * features);
  draw_fourier({layer.covariance, plan.spec.frequencies, key}, {frequencies.data(), dimensions, features},
               {fixed.data() + layer.phases, features});
  const auto split = frequencies.begin() + static_cast<std::ptrdiff_t>(hidden);
  std::copy(frequencies.begin(), split, fixed.data() + layer.hidden_frequencies);
  std::copy(split, frequencies.end(), fixed.data() + layer.coordinate_frequencies);
}

// Time's frequencies, the last row, where they are not part of that draw: as if those of another layer, so that no number of the
// two is the same. Networks have far fewer layers than 2^15 (network/spec.cpp).
void draw_time(const LayerPlan& layer, RandomKey key, std::vector<float>& fixed) {
  key.layer |= 0x8000U;
  const std::size_t features = static_cast<std::size_t>(layer.features);
  draw_frequencies({layer.time_covariance, Frequencies::independent, key},
                   {fixed.data() + layer.coordinate_frequencies + joint_coordinates(layer) * features, 1, features});
}

void draw_planar(const Plan& plan, const LayerPlan& layer, const RandomKey& key, std::vector<float>& fixed) {
  draw_jointly(plan, layer, key, fixed);
  if (layer.separate_time) draw_time(layer, key, fixed);
}

// N(0, 1) entries; a substream for each row.
void draw_matrix(RandomKey key, MatrixView<float> matrix) {
  key.purpose = Purpose::bottleneck;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    RandomStream stream(key, static_cast<std::uint32_t>(row));
    for (std::size_t col = 0; col < matrix.cols; ++col) matrix(row, col) = static_cast<float>(stream.normal());
  }
}

// With n features, each trained matrix of a dense network is drawn from the uniform distribution within +-bound of variance
// bound^2 / 3. A feature of mean square q makes an output of variance n q bound^2 / 3, which should be the features' own scale:
//   after coordinates or cosines (q about 1)  variance 1:          bound = sqrt(3 / n)
//   after relu (q = half the variance of z)   the variance of z:   bound = sqrt(6 / n)              (He et al. 2015)
//   before a sine                             as Sitzmann et al. (2020) have it: 1 / n from the coordinates, and elsewhere as
//                                             above over omega, so that omega z has variance 1; a sine has q = 1/2: sqrt(6 / n)
// SIREN divides the last matrix, too. Biases are within +-1 / sqrt(n), as PyTorch draws them and both papers' programs did.
double weight_bound(const Plan& plan, const LayerPlan& layer) {
  const double n = layer.features;
  const bool siren = plan.spec.dense->activation == Activation::sine;
  if (siren && layer.kind == FeatureKind::coordinates) return 1.0 / n;
  const double bound = std::sqrt((layer.activation() ? 6.0 : 3.0) / n);
  if (!siren) return bound;
  const double omega = layer.next >= 0 ? plan.layers[static_cast<std::size_t>(layer.next)].omega : plan.spec.dense->hidden_omega;
  return bound / omega;
}

// A substream for each row, the bias being the last one.
void draw_dense(const Plan& plan, const LayerPlan& layer, RandomKey key, std::vector<float>& parameters) {
  key.purpose = Purpose::bottleneck;
  const double weights = weight_bound(plan, layer), biases = 1.0 / std::sqrt(static_cast<double>(layer.features));
  float* entry = parameters.data() + layer.bottleneck;
  for (int row = 0; row < layer.matrix_rows(); ++row) {
    RandomStream stream(key, static_cast<std::uint32_t>(row));
    const double bound = row < layer.features ? weights : biases;
    for (int col = 0; col < layer.outputs; ++col) *entry++ = static_cast<float>(bound * (2.0 * stream.uniform() - 1.0));
  }
}

bool has_sphere(const Plan& plan) {
  return std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
}

Member draw_member(const Plan& plan, const std::optional<SphericalSpectrum>& spectrum, std::uint64_t seed, std::uint32_t index) {
  Member member;
  member.index = index;
  member.fixed.assign(plan.fixed_size, 0.0f);
  member.parameters.assign(plan.parameter_size, 0.0f);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerPlan& layer = plan.layers[i];
    const std::size_t features = static_cast<std::size_t>(layer.features);
    const RandomKey key = layer_key(seed, index, i);
    if (layer.planar()) draw_planar(plan, layer, key, member.fixed);
    if (layer.sphere) {
      draw_spherical(*spectrum, key, {member.fixed.data() + layer.degrees, features},
                     {member.fixed.data() + layer.poles, 3, features});
    }
    if (plan.spec.dense) {
      draw_dense(plan, layer, key, member.parameters);
      continue;
    }
    draw_matrix(key, {member.parameters.data() + layer.bottleneck, features, static_cast<std::size_t>(layer.outputs)});
  }
  if (plan.has_head) {
    draw_matrix(layer_key(seed, index, plan.layers.size()),
                {member.parameters.data() + plan.head, static_cast<std::size_t>(plan.head_inputs),
                 static_cast<std::size_t>(plan.spec.outputs)});
  }
  return member;
}

std::optional<SphericalSpectrum> spectrum_if_needed(const Plan& plan) {
  return has_sphere(plan) ? std::optional(sphere_spectrum(plan)) : std::nullopt;
}

}  // namespace

SphericalSpectrum sphere_spectrum(const Plan& plan) {
  const NetworkSpec& spec = plan.spec;
  return SphericalSpectrum(spec.spatial.covariance, spec.spatial.lengthscales.at(0), spec.sphere_tail_mass,
                           spec.sphere_max_degree);
}

Member draw_member(const Plan& plan, std::uint64_t seed, std::uint32_t index) {
  return draw_member(plan, spectrum_if_needed(plan), seed, index);
}

Ensemble draw_ensemble(const NetworkSpec& spec, std::uint64_t seed, std::size_t members, int threads) {
  const Plan plan = make_plan(spec);
  if (members < 1 || members > kMaxMembers) {
    throw UsageError(fmt::format("members is {} but must be between 1 and {}", members, kMaxMembers));
  }
  const std::optional<SphericalSpectrum> spectrum = spectrum_if_needed(plan);
  Ensemble ensemble{spec, seed, {}};
  try {
    ensemble.members.resize(members);
    const std::size_t used = std::min(members, static_cast<std::size_t>(threads_or_all(threads)));
    run_on_threads(static_cast<int>(used), [&](int thread) {
      for (std::size_t i = static_cast<std::size_t>(thread); i < members; i += used) {
        ensemble.members[i] = draw_member(plan, spectrum, seed, static_cast<std::uint32_t>(i));
      }
    });
  } catch (const std::bad_alloc&) {
    const double bytes = static_cast<double>(sizeof(float)) * static_cast<double>(plan.fixed_size + plan.parameter_size);
    throw Error(fmt::format("there is not enough memory for {} members of {:.3g} GiB each: lower members, features or bottleneck",
                            members, bytes / (1024.0 * 1024.0 * 1024.0)));
  }
  return ensemble;
}

}  // namespace drift
