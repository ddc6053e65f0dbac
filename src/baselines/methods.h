#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "baselines/method_settings.h"
#include "drift/interpolator.h"

namespace drift {

// A row of the table of methods (methods.cpp): what a user reads of it, and what makes one. Each method's file gives its own.
struct Method {
  MethodInfo info;
  std::function<std::unique_ptr<Interpolator>(const MethodSettings& settings, const Domain& domain)> make;
};

Method exact_gp_method();
Method nearest_gp_method();
Method local_experts_method();
Method svgp_method();
Method deep_gp_method();
Method relu_network_method();
Method fourier_network_method();
Method siren_method();
Method neural_process_method();

}  // namespace drift
