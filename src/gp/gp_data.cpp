#include "gp/gp_data.h"

#include <cmath>

namespace drift::gp {

double GpParameters::noise_variance() const { return std::exp(2.0 * log_noise); }

Eigen::VectorXd GpParameters::packed() const {
  Eigen::VectorXd out(kernel.size() + 1);
  out << kernel, log_noise;
  return out;
}

GpParameters GpParameters::unpacked(const Eigen::VectorXd& packed, double mean) {
  return {.kernel = packed.head(packed.size() - 1), .log_noise = packed[packed.size() - 1], .mean = mean};
}

GpData subset(const GpData& data, const std::vector<Eigen::Index>& rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  GpData out;
  out.points.resize(data.points.rows(), n);
  out.values.resize(n);
  out.known_variance.resize(data.known_variance.size() > 0 ? n : 0);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index row = rows[static_cast<std::size_t>(i)];
    out.points.col(i) = data.points.col(row);
    out.values[i] = data.values[row];
    if (out.known_variance.size() > 0) out.known_variance[i] = data.known_variance[row];
    if (!data.fold.empty()) out.fold.push_back(data.fold[static_cast<std::size_t>(row)]);
  }
  return out;
}

}  // namespace drift::gp
