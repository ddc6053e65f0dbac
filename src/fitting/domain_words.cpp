#include "fitting/domain_words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "drift/parse_number.h"
#include "fitting/length_text.h"

namespace drift {
namespace {

constexpr double kNearPoleDeg = 80.0;

// Of "... +key=NUMBER ...".
std::optional<double> proj_number(std::string_view crs, std::string_view key) {
  const std::size_t at = crs.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = crs.substr(at + key.size());
  return parse_number<double>(std::string(rest.substr(0, rest.find(' '))));
}

std::string degrees(double value, const char* positive, const char* negative) {
  return fmt::format("{:.1f}° {}", std::abs(value), value < 0.0 ? negative : positive);
}

}  // namespace

std::optional<PlaneCentre> plane_centre(const Domain& domain) {
  if (domain.kind != DomainKind::plane || !domain.crs.starts_with("+proj=laea ")) return std::nullopt;
  const auto lat = proj_number(domain.crs, "+lat_0="), lon = proj_number(domain.crs, "+lon_0=");
  if (!lat || !lon) return std::nullopt;
  return PlaneCentre{*lat, *lon};
}

std::string domain_words(const Domain& domain) {
  if (domain.kind == DomainKind::sphere) return "the sphere";
  if (domain.kind == DomainKind::xy) return fmt::format("x and y in {}", domain.unit);
  const auto centre = plane_centre(domain);
  if (!centre) return "the plane " + domain.crs;
  return fmt::format("a plane centred on {}, {} (Lambert azimuthal equal-area)", degrees(centre->lat_deg, "N", "S"),
                     degrees(centre->lon_deg, "E", "W"));
}

std::string days_text(double days) {
  constexpr double kHours = 24.0, kMinutes = 1440.0;
  if (days * kHours < 1.0) return fmt::format("{:.2g} minutes", days * kMinutes);
  if (days < 1.0) return fmt::format("{:.2g} hours", days * kHours);
  return length_text(days) + " days";
}

std::string motion_text(const ProcessInfo& info, const Domain& domain) {
  constexpr double kNegligible = 0.01;
  const auto centre = plane_centre(domain);
  const bool compass = domain.kind == DomainKind::sphere || (centre && std::abs(centre->lat_deg) < kNearPoleDeg);
  const std::array<double, 2> velocity = {info.velocity_x, info.velocity_y};
  const std::array<double, 2> length = {info.lengthscale_x, info.lengthscale_y};
  constexpr std::array<std::array<const char*, 2>, 2> kNames = {{{"east", "west"}, {"north", "south"}}};
  std::string text;
  for (std::size_t d = 0; d < 2; ++d) {
    if (!(std::abs(velocity.at(d)) * info.time_lengthscale_days > kNegligible * length.at(d))) continue;
    const bool back = velocity.at(d) < 0.0;
    const std::string speed = length_text(std::abs(velocity.at(d)));
    text += text.empty() ? fmt::format("; moving {} {} per day", speed, domain.unit) : " and " + speed;
    text += compass ? fmt::format(" to the {}", kNames.at(d).at(back ? 1 : 0))
                    : fmt::format(" along {}{}", back ? "-" : "", d == 0 ? "x" : "y");
  }
  return text;
}

}  // namespace drift
