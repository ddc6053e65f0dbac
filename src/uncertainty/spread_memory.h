#pragma once

#include <cstddef>

#include "drift/network_spec.h"

namespace drift {

// Bytes held at once while the spread of trained networks is made, the networks themselves included and the observations aside.

// dropout_draws() or variational_draws(): the members, and as many networks as they are drawn.
double draws_bytes(const NetworkSpec& spec, std::size_t members, std::size_t draws);

// fit_last_layer(), and predict_last_layer() afterwards.
double last_layer_bytes(const NetworkSpec& spec, std::size_t members, std::size_t observations, int threads);

}  // namespace drift
