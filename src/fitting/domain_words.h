#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drift/domain.h"
#include "drift/field_model.h"

namespace drift {

// Of a domain and of what moves on it, as a person says it.

// Latitude and longitude of the centre, if the plane is an azimuthal equal-area one given by PROJ parameters, as choose_domain()
// makes them; near it x is east and y north.
struct PlaneCentre {
  double lat_deg = 0.0, lon_deg = 0.0;
};
std::optional<PlaneCentre> plane_centre(const Domain& domain);

// "the sphere", "a plane centred on 35.7° N, 15.3° E (Lambert azimuthal equal-area)", "the plane EPSG:6931", "x and y in m"
std::string domain_words(const Domain& domain);

// "4.3 minutes", "7.1 hours", "5.54 days", "2,650 days"
std::string days_text(double days);

// "; moving 237 km per day to the west and 31 to the south"; empty where the field moves by less than a hundredth of its
// lengthscales in its time scale.
std::string motion_text(const ProcessInfo& info, const Domain& domain);

}  // namespace drift
