#include "drift/error.h"
#include "drift/predict.h"

namespace drift {

PointsReport predict_points(Engine&, const FieldModel&, const std::filesystem::path&, const std::filesystem::path&, const Roles&,
                            std::optional<double>) {
  throw Error("--at is not there yet");
}

}  // namespace drift
