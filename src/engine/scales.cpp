#include "engine/scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "drift/error.h"

namespace drift {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const LayerPlan* first_spherical(const Plan& plan) {
  const auto found = std::find_if(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
  return found == plan.layers.end() ? nullptr : &*found;
}

}  // namespace

NetworkSpec with_unit_scales(NetworkSpec spec) {
  for (ChainSpec* chain : {&spec.spatial, &spec.temporal, &spec.joint}) {
    std::fill(chain->lengthscales.begin(), chain->lengthscales.end(), 1.0);
    chain->hidden_lengthscale = chain->amplitude = chain->hidden_amplitude = 1.0;
  }
  return spec;
}

ScaleResolver::ScaleResolver(Plan plan) : plan_(std::move(plan)) {
  // Every spherical part of a network has the spatial chain's covariance and lengthscale.
  if (const LayerPlan* layer = first_spherical(plan_)) {
    drawn_.emplace(layer->sphere_covariance, plan_.hyperparameters[at(layer->sphere_lengthscale)].value,
                   plan_.spec.sphere_tail_mass, plan_.spec.sphere_max_degree);
  }
}

template <class Real>
Scales ScaleResolver::resolve(const Real* fixed, const Real* parameters) const {
  const auto value = [&](int index) {
    return plan_.hyperparameters[at(index)].value * std::exp(static_cast<double>(parameters[plan_.hyper + at(index)]));
  };
  Scales scales;
  for (const int index : plan_.coordinate_lengthscale)
    scales.inverse_lengthscale.push_back(index == kNone ? 1.0 : 1.0 / value(index));

  std::optional<SphericalSpectrum> now;
  if (drawn_) now = drawn_->with_lengthscale(value(first_spherical(plan_)->sphere_lengthscale));
  for (const LayerPlan& layer : plan_.layers) {
    LayerScales& out = scales.layers.emplace_back();
    if (layer.planar()) out.amplitude = std::numbers::sqrt2 * value(layer.amplitude);
    const int next = layer.next >= 0 ? plan_.layers[at(layer.next)].hidden_lengthscale : kNone;
    out.output = 1.0 / (layer.divisor * (next == kNone ? 1.0 : value(next)));
    if (!layer.sphere) continue;
    const double sigma = value(layer.sphere_amplitude);
    for (std::size_t m = 0; m < at(layer.features); ++m) {
      const auto drawn = static_cast<double>(fixed[layer.degrees + m]);
      if (!(drawn >= 0.0 && drawn <= drawn_->max_degree())) {
        throw UsageError(fmt::format("{}: feature {} has degree {} but the spec's degrees end at {}", layer.name, m, drawn,
                                     drawn_->max_degree()));
      }
      const int degree = static_cast<int>(drawn);
      const double reweight = now->mass(degree) / drawn_->mass(degree);
      out.sphere.push_back(sigma * std::sqrt((2.0 * degree + 1.0) * reweight));
      out.sphere_slope.push_back(0.5 * now->log_mass_slope(degree));
    }
  }
  return scales;
}

template Scales ScaleResolver::resolve(const float*, const float*) const;
template Scales ScaleResolver::resolve(const double*, const double*) const;

}  // namespace drift
