// The step over the ellipsoid, with radii of curvature M along the meridian and N across it (Snyder 1987, section 4):
//   north = M dphi,  east = N cos(phi) dlambda,  N = a / sqrt(1 - e^2 sin^2 phi),  M = N (1 - e^2) / (1 - e^2 sin^2 phi).
// The projection's derivatives come from central differences of the projection itself. PROJ's own proj_factors would do, but
// release 9.1 rebuilds its operation at every call when given a CRS (10 ms a point), and its factors are wrong by the unit for a
// CRS in feet and by the axes' order for one whose northing comes first.

#include "geo/projection.h"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string_view>

#include "core/blocks.h"
#include "core/degree.h"
#include "drift/error.h"
#include "geo/crs_text.h"
#include "geo/proj_handles.h"

namespace drift {
namespace {

// No map of the Earth is wider (it is 4e7 m around); stereographic projections give 1e23 for the opposite pole instead of
// failing.
constexpr double kFarthestM = 1e8;
constexpr std::size_t kPointsTogether = 1024;  // points, so that their copies stay in the cache
constexpr std::size_t kCachedProjections = 8;  // a thread's; one or two are in use at a time

void remember(void* reason, int /*level*/, const char* message) { *static_cast<std::string*>(reason) = message; }

// A PROJ string is a CRS only when it says so; without that it is an operation.
std::string as_crs(const std::string& text) {
  const bool proj_string = text.find("+proj=") != std::string::npos && text.find("+type=crs") == std::string::npos;
  return proj_string ? text + " +type=crs" : text;
}

// PROJ searches all names of its database for a code whose authority it does not know: 20 ms, many times that under a sanitizer.
void check_authority(PJ_CONTEXT* context, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find_first_of("[(+=\"") < colon || text.starts_with("urn:")) return;  // WKT, parameters
  std::string authority = text.substr(0, colon);
  for (char& c : authority) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::unique_ptr<char*, void (*)(char**)> known(proj_get_authorities_from_database(context), proj_string_list_destroy);
  if (!known) return;  // without a database PROJ says so itself
  std::string all;
  for (char** each = known.get(); *each != nullptr; ++each) {
    if (std::string_view(*each).starts_with(authority)) return;  // IAU:2015:30100 is one of IAU_2015
    all += (all.empty() ? "" : ", ") + std::string(*each);
  }
  throw UsageError(fmt::format("coordinate reference system '{}': PROJ knows no authority '{}', but {}", text, authority, all));
}

}  // namespace

struct Projection::Handles {
  std::string reason;  // PROJ's last message
  ProjContext context{proj_context_create()};
  ProjObject crs;
  ProjObject operation;  // from degrees, longitude first, to the CRS's unit, x first

  explicit Handles(const std::string& text) {
    check_crs_text(text);
    proj_log_func(context.get(), &reason, remember);
    proj_log_level(context.get(), PJ_LOG_ERROR);
    proj_context_set_enable_network(context.get(), 0);
    check_authority(context.get(), text);
    crs.reset(proj_create(context.get(), as_crs(text).c_str()));
    if (!crs) refuse(text);
    // A CRS bound to a datum shift (+towgs84): the shift is not ours to apply.
    if (proj_get_type(crs.get()) == PJ_TYPE_BOUND_CRS) crs.reset(proj_get_source_crs(context.get(), crs.get()));
    if (proj_get_type(crs.get()) != PJ_TYPE_PROJECTED_CRS) {
      throw UsageError(
          fmt::format("'{}' is not a projected coordinate reference system: a plane needs one, such as EPSG:6931", text));
    }
    const ProjObject geographic(proj_crs_get_geodetic_crs(context.get(), crs.get()));
    const ProjObject native(proj_create_crs_to_crs_from_pj(context.get(), geographic.get(), crs.get(), nullptr, nullptr));
    if (!native) refuse(text);
    operation.reset(proj_normalize_for_visualization(context.get(), native.get()));
    if (!operation) refuse(text);
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw UsageError(
        fmt::format("coordinate reference system '{}': PROJ reports: {}", text, reason.empty() ? "no reason" : reason));
  }

  void transform(PJ_DIRECTION direction, std::span<double> first, std::span<double> second) const {
    if (first.size() != second.size()) {
      throw UsageError(fmt::format("projection: {} first coordinates but {} second ones", first.size(), second.size()));
    }
    proj_errno_reset(operation.get());
    proj_trans_generic(operation.get(), direction, first.data(), sizeof(double), first.size(), second.data(), sizeof(double),
                       second.size(), nullptr, 0, 0, nullptr, 0, 0);
  }
};

Projection::Projection(const std::string& crs) : handles_(std::make_shared<Handles>(crs)) {
  PJ_CONTEXT* context = handles_->context.get();
  const ProjObject system(proj_crs_get_coordinate_system(context, handles_->crs.get()));
  proj_cs_get_axis_info(context, system.get(), 0, nullptr, nullptr, nullptr, &metres_per_unit_, nullptr, nullptr, nullptr);
  if (!(metres_per_unit_ > 0.0 && std::isfinite(metres_per_unit_))) {
    throw UsageError(fmt::format("'{}' has axes whose unit is {} metres", crs, metres_per_unit_));
  }
  const ProjObject ellipsoid(proj_get_ellipsoid(context, handles_->crs.get()));
  double semi_minor = 0.0;
  if (!ellipsoid || !proj_ellipsoid_get_parameters(context, ellipsoid.get(), &semi_major_m_, &semi_minor, nullptr, nullptr)) {
    handles_->refuse(crs);
  }
  eccentricity2_ = 1.0 - semi_minor * semi_minor / (semi_major_m_ * semi_major_m_);
}

void Projection::forward(std::span<double> lon_to_x, std::span<double> lat_to_y) const {
  handles_->transform(PJ_FWD, lon_to_x, lat_to_y);
  for (std::size_t i = 0; i < lon_to_x.size(); ++i) {
    const double x = lon_to_x[i] * metres_per_unit_, y = lat_to_y[i] * metres_per_unit_;
    const bool reached = std::abs(x) < kFarthestM && std::abs(y) < kFarthestM;
    lon_to_x[i] = reached ? x : std::numeric_limits<double>::infinity();
    lat_to_y[i] = reached ? y : std::numeric_limits<double>::infinity();
  }
}

void Projection::inverse(std::span<double> x_to_lon, std::span<double> y_to_lat) const {
  // Beyond its domain an inverse may give some position instead of failing: one that does not project back is none.
  constexpr double kBackM = 1.0;
  std::array<double, kPointsTogether> x, y, x_back, y_back;
  for_blocks(x_to_lon.size(), kPointsTogether, [&](std::size_t first, std::size_t count) {
    const auto lon = x_to_lon.subspan(first, count), lat = y_to_lat.subspan(first, count);
    std::copy(lon.begin(), lon.end(), x.begin());
    std::copy(lat.begin(), lat.end(), y.begin());
    for (std::size_t i = 0; i < count; ++i) lon[i] /= metres_per_unit_, lat[i] /= metres_per_unit_;
    handles_->transform(PJ_INV, lon, lat);
    std::copy(lon.begin(), lon.end(), x_back.begin());
    std::copy(lat.begin(), lat.end(), y_back.begin());
    forward(std::span(x_back).first(count), std::span(y_back).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!(std::hypot(x_back[i] - x[i], y_back[i] - y[i]) < kBackM)) lon[i] = lat[i] = std::numeric_limits<double>::quiet_NaN();
    }
  });
}

Projection::Jacobian Projection::jacobian(const Position& position) const {
  constexpr double kStep = 1e-4;         // radians: truncation and rounding are both below 1e-8 of the result
  constexpr double kInsidePole = 89.99;  // degrees: room for the step; the meridians' directions are the same there
  const double lon = position.lon_deg, lat = std::clamp(position.lat_deg, -kInsidePole, kInsidePole);
  const double step = kStep / kDegree;
  std::array<double, 5> x = {lon, lon - step, lon + step, lon, lon};
  std::array<double, 5> y = {lat, lat, lat, lat - step, lat + step};
  forward(x, y);
  if (!std::isfinite(x[0])) {
    throw Error(fmt::format("longitude {}, latitude {} cannot be projected to this plane", position.lon_deg, position.lat_deg));
  }

  // At the map's edge one side is missing, or has jumped to the opposite edge: then the other side alone.
  const auto derivative = [&](std::size_t before, std::size_t after) {
    const double back = std::hypot(x[0] - x[before], y[0] - y[before]), ahead = std::hypot(x[after] - x[0], y[after] - y[0]);
    constexpr double kJump = 10.0;
    const bool no_back = !(back <= kJump * ahead), no_ahead = !(ahead <= kJump * back);
    const std::size_t from = no_back && std::isfinite(ahead) ? 0 : before, to = no_ahead && std::isfinite(back) ? 0 : after;
    const double length = from == 0 || to == 0 ? kStep : 2.0 * kStep;
    return std::array{(x[to] - x[from]) / length, (y[to] - y[from]) / length};
  };
  const auto [x_lambda, y_lambda] = derivative(1, 2);
  const auto [x_phi, y_phi] = derivative(3, 4);

  const double sine = std::sin(lat * kDegree), w = 1.0 - eccentricity2_ * sine * sine;
  const double across = semi_major_m_ / std::sqrt(w), along = across * (1.0 - eccentricity2_) / w;
  const double parallel = across * std::cos(lat * kDegree);
  return {x_lambda / parallel, y_lambda / parallel, x_phi / along, y_phi / along};
}

std::optional<std::array<double, 4>> Projection::area_of_use() const {
  constexpr int kPointsAnEdge = 359;  // with both ends, every degree of a whole circle
  double west = 0, south = 0, east = 0, north = 0;
  PJ_CONTEXT* context = handles_->context.get();
  if (!proj_get_area_of_use(context, handles_->crs.get(), &west, &south, &east, &north, nullptr)) return std::nullopt;
  std::array<double, 4> box = {};
  if (west < -180.0 || !proj_trans_bounds(context, handles_->operation.get(), PJ_FWD, west, south, east, north, box.data(),
                                          &box[1], &box[2], &box[3], kPointsAnEdge)) {
    return std::nullopt;
  }
  for (double& bound : box) bound *= metres_per_unit_;
  const bool finite = std::all_of(box.begin(), box.end(), [](double bound) { return std::abs(bound) < kFarthestM; });
  return finite ? std::optional(box) : std::nullopt;
}

std::shared_ptr<const Projection> projection_of(const std::string& crs) {
  thread_local std::map<std::string, std::shared_ptr<const Projection>> known;
  if (const auto found = known.find(crs); found != known.end()) return found->second;
  auto made = std::make_shared<const Projection>(crs);
  if (known.size() >= kCachedProjections) known.clear();
  known.emplace(crs, made);
  return made;
}

void check_position(double lon_deg, double lat_deg, std::size_t index) {
  if (std::abs(lon_deg) <= 360.0 && std::abs(lat_deg) <= 90.0) return;
  throw UsageError(
      fmt::format("position {}: longitude {}, latitude {}: longitudes must lie within +-360 degrees and latitudes within +-90",
                  index, lon_deg, lat_deg));
}

}  // namespace drift
