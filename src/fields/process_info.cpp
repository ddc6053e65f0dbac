#include "fields/process_info.h"

#include <cmath>

namespace drift {

ProcessInfo info_of(const ProcessParameters& p, bool has_time, const Domain& domain) {
  const auto sd = [&](double variance) { return sd_from_engine(domain, std::sqrt(variance)); };
  ProcessInfo info = {.nu = p.nu,
                      .lengthscale_x = lengthscale_from_engine(domain, p.length_x),
                      .lengthscale_y = lengthscale_from_engine(domain, p.length_y),
                      .shear = p.shear,
                      .second_share = p.second_share,
                      .second_length = p.second_share > 0.0 ? p.second_length : 0.0,
                      .field_sd = sd(p.sill),
                      .noise_sd = sd(p.nugget),
                      .track_sd = sd(p.track_variance),
                      .platform_sd = sd(p.platform_variance)};
  if (!has_time) return info;
  info.time_lengthscale_days = time_lengthscale_from_engine(domain, p.time_length);
  if (p.second_share > 0.0) info.second_time_days = info.time_lengthscale_days * p.second_time;
  // The velocity keeps q constant: x / l_x + shear y / l_y = u t / l_t with y / l_y = v t / l_t.
  info.velocity_x = (p.drift_x - p.shear * p.drift_y) * info.lengthscale_x / info.time_lengthscale_days;
  info.velocity_y = p.drift_y * info.lengthscale_y / info.time_lengthscale_days;
  return info;
}

ProcessInfo info_of(const Process& process, const Domain& domain) {
  return info_of(process.parameters(), process.has_time(), domain);
}

std::optional<ProcessInfo> process_info(const FieldModel& model) {
  return model.process ? std::optional(info_of(*model.process, model.domain)) : std::nullopt;
}

}  // namespace drift
