#include "baselines/deep_gp.h"

namespace drift {

Method svgp_method() {
  const gp::SvgpSettings fallback;
  MethodInfo info{.name = "svgp",
                  .title = "Sparse variational GP",
                  .summary = "a sparse Gaussian process with inducing points, trained in batches",
                  .source = "Hensman et al. 2013",
                  .options = variational_options(fallback, true)};
  return {info, [fallback](const MethodSettings& settings, const Domain& domain) {
            return std::make_unique<VariationalInterpolator>(variational_settings(settings, fallback),
                                                             covariance_settings(settings, domain, "joint"),
                                                             settings.word("family", Family::matern));
          }};
}

}  // namespace drift
