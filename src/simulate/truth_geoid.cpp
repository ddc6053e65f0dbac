// The geoid's height above WGS 84 is what PROJ's vertical grid shift adds to a height of zero. EGM96: Lemoine et al. 1998,
// NASA/TP-1998-206861; the grid of 15 minutes is NGA's.

#include <fmt/format.h>
#include <proj.h>

#include <cmath>
#include <memory>
#include <vector>

#include "drift/error.h"
#include "drift/truth.h"

namespace drift {
namespace {

constexpr const char* kShift = "+proj=vgridshift +grids=egm96_15.gtx +multiplier=1";

// For one thread: PROJ's objects must not be shared.
class Geoid {
 public:
  Geoid() : context_(proj_context_create()) {
    proj_log_level(context_.get(), PJ_LOG_NONE);
    proj_context_set_enable_network(context_.get(), 0);
    shift_.reset(proj_create(context_.get(), kShift));
    double height = 0.0;
    if (shift_) heights(std::vector<UnitVector>{{1.0, 0.0, 0.0}}, std::span(&height, 1));
    if (!shift_ || !std::isfinite(height)) {
      throw Error(
          "the geoid needs the grid egm96_15.gtx, which PROJ does not find; install PROJ's data (Debian: proj-data) or set "
          "PROJ_DATA to the folder that holds it");
    }
  }

  void heights(std::span<const UnitVector> points, std::span<double> values) const {
    std::vector<double> lon(points.size()), lat(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      lon[i] = std::atan2(points[i][1], points[i][0]);
      lat[i] = std::atan2(points[i][2], std::hypot(points[i][0], points[i][1]));
      values[i] = 0.0;
    }
    proj_errno_reset(shift_.get());
    proj_trans_generic(shift_.get(), PJ_FWD, lon.data(), sizeof(double), lon.size(), lat.data(), sizeof(double), lat.size(),
                       values.data(), sizeof(double), values.size(), nullptr, 0, 0);
    for (double& value : values) {
      if (!std::isfinite(value)) value = std::nan("");
    }
  }

 private:
  struct ContextDeleter {
    void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
  };
  struct ObjectDeleter {
    void operator()(PJ* object) const { proj_destroy(object); }
  };
  std::unique_ptr<PJ_CONTEXT, ContextDeleter> context_;
  std::unique_ptr<PJ, ObjectDeleter> shift_;
};

}  // namespace

NamedTruth geoid_truth() {
  const Geoid here;  // a missing grid is told now, and not in the middle of the work
  return {.truth =
              [](std::span<const UnitVector> points, std::span<const double>, std::span<double> values) {
                thread_local const Geoid geoid;
                geoid.heights(points, values);
              },
          .info = {.name = "geoid_height",
                   .long_name = "Height of the geoid EGM96 above WGS 84",
                   .standard_name = "geoid_height_above_reference_ellipsoid",
                   .unit = "m"}};
}

}  // namespace drift
