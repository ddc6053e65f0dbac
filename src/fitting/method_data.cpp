#include "fitting/method_data.h"

namespace drift {

InterpolatorData MethodData::view() const {
  InterpolatorData out = {.training = rows.view(),
                          .space = space,
                          .space_coordinates = space_coordinates,
                          .noise_sd = noise_sd,
                          .track = track,
                          .platform = platform,
                          .fold = rows.folds.of,
                          .fold_count = rows.folds.count,
                          .group = rows.folds.group,
                          .given_noise_sd = given_noise_sd};
  // Folds of the training set itself are what networks leave out, one each: a choice of the method.
  out.training.folds = {};
  out.training.fold_count = 0;
  return out;
}

InterpolatorOptions interpolator_options(const RunSettings& settings) {
  return {.seed = settings.seed, .threads = settings.threads, .backend = settings.backend, .precision = settings.precision};
}

MethodData method_data(const FitPlan& plan, const Observations& observations) {
  const double unit = plan.domain.value.sd;
  MethodData out = {
      .rows = training_rows(plan.domain, observations, plan.split.training, plan.spec.temporal.layers > 0, plan.settings.threads),
      .space = space_of(plan.domain),
      .space_coordinates = space_coordinates(plan.domain)};
  out.rows.folds = plan.folds;
  for (const std::size_t row : plan.split.training) {
    if (!observations.sigma.empty())
      out.noise_sd.push_back(static_cast<float>(static_cast<double>(observations.sigma[row]) / unit));
    if (!observations.track.empty()) out.track.push_back(observations.track[row]);
    if (!observations.platform.empty()) out.platform.push_back(observations.platform[row]);
  }
  if (const auto noise = plan.settings.uncertainty.noise_sd) out.given_noise_sd = *noise / unit;
  return out;
}

}  // namespace drift
