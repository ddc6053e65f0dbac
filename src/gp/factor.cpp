#include "gp/factor.h"

#include <cmath>

namespace drift::gp {

double Factor::log_determinant() const { return 2.0 * lower.diagonal().array().log().sum(); }

}  // namespace drift::gp
