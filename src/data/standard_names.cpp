#include "data/standard_names.h"

#include <algorithm>
#include <array>
#include <vector>

namespace drift {
namespace {

struct StandardName {
  std::string_view name, unit;
};

// Ascending.
constexpr auto kNames = std::to_array<StandardName>({
    {"age_of_sea_ice", "year"},
    {"air_density", "kg m-3"},
    {"air_potential_temperature", "K"},
    {"air_pressure", "Pa"},
    {"air_pressure_at_mean_sea_level", "Pa"},
    {"air_pressure_at_sea_level", "Pa"},
    {"air_temperature", "K"},
    {"altimeter_range", "m"},
    {"altitude", "m"},
    {"atmosphere_mass_content_of_cloud_liquid_water", "kg m-2"},
    {"atmosphere_mass_content_of_water_vapor", "kg m-2"},
    {"bedrock_altitude", "m"},
    {"brightness_temperature", "K"},
    {"change_in_land_ice_amount", "kg m-2"},
    {"depth", "m"},
    {"eastward_sea_water_velocity", "m s-1"},
    {"eastward_wind", "m s-1"},
    {"floating_ice_shelf_area_fraction", "1"},
    {"geoid_height_above_reference_ellipsoid", "m"},
    {"geopotential_height", "m"},
    {"height", "m"},
    {"height_above_geoid", "m"},
    {"height_above_mean_sea_level", "m"},
    {"height_above_reference_ellipsoid", "m"},
    {"land_ice_area_fraction", "1"},
    {"land_ice_surface_specific_mass_balance_rate", "m s-1"},
    {"land_ice_thickness", "m"},
    {"lwe_thickness_of_surface_snow_amount", "m"},
    {"mass_concentration_of_chlorophyll_a_in_sea_water", "kg m-3"},
    {"mass_concentration_of_chlorophyll_in_sea_water", "kg m-3"},
    {"mole_concentration_of_dissolved_molecular_oxygen_in_sea_water", "mol m-3"},
    {"mole_fraction_of_carbon_dioxide_in_air", "1"},
    {"mole_fraction_of_methane_in_air", "1"},
    {"northward_sea_water_velocity", "m s-1"},
    {"northward_wind", "m s-1"},
    {"ocean_mixed_layer_thickness", "m"},
    {"ocean_mixed_layer_thickness_defined_by_sigma_theta", "m"},
    {"precipitation_flux", "kg m-2 s-1"},
    {"rainfall_rate", "m s-1"},
    {"relative_humidity", "1"},
    {"sea_floor_depth_below_geoid", "m"},
    {"sea_floor_depth_below_sea_surface", "m"},
    {"sea_ice_area", "m2"},
    {"sea_ice_area_fraction", "1"},
    {"sea_ice_draft", "m"},
    {"sea_ice_freeboard", "m"},
    {"sea_ice_speed", "m s-1"},
    {"sea_ice_thickness", "m"},
    {"sea_ice_x_velocity", "m s-1"},
    {"sea_ice_y_velocity", "m s-1"},
    {"sea_surface_foundation_temperature", "K"},
    {"sea_surface_height_above_geoid", "m"},
    {"sea_surface_height_above_mean_sea_level", "m"},
    {"sea_surface_height_above_reference_ellipsoid", "m"},
    {"sea_surface_height_above_sea_level", "m"},
    {"sea_surface_salinity", "1e-3"},
    {"sea_surface_skin_temperature", "K"},
    {"sea_surface_subskin_temperature", "K"},
    {"sea_surface_swell_wave_significant_height", "m"},
    {"sea_surface_temperature", "K"},
    {"sea_surface_wave_from_direction", "degree"},
    {"sea_surface_wave_maximum_height", "m"},
    {"sea_surface_wave_mean_period", "s"},
    {"sea_surface_wave_period_at_variance_spectral_density_maximum", "s"},
    {"sea_surface_wave_significant_height", "m"},
    {"sea_surface_wind_wave_significant_height", "m"},
    {"sea_water_absolute_salinity", "g kg-1"},
    {"sea_water_conservative_temperature", "K"},
    {"sea_water_density", "kg m-3"},
    {"sea_water_ph_reported_on_total_scale", "1"},
    {"sea_water_potential_density", "kg m-3"},
    {"sea_water_potential_temperature", "K"},
    {"sea_water_practical_salinity", "1"},
    {"sea_water_pressure", "dbar"},
    {"sea_water_salinity", "1e-3"},
    {"sea_water_speed", "m s-1"},
    {"sea_water_temperature", "K"},
    {"sea_water_x_velocity", "m s-1"},
    {"sea_water_y_velocity", "m s-1"},
    {"snowfall_flux", "kg m-2 s-1"},
    {"specific_humidity", "1"},
    {"surface_air_pressure", "Pa"},
    {"surface_altitude", "m"},
    {"surface_backwards_scattering_coefficient_of_radar_wave", "1"},
    {"surface_eastward_sea_water_velocity", "m s-1"},
    {"surface_geostrophic_eastward_sea_water_velocity", "m s-1"},
    {"surface_geostrophic_eastward_sea_water_velocity_assuming_sea_level_for_geoid", "m s-1"},
    {"surface_geostrophic_northward_sea_water_velocity", "m s-1"},
    {"surface_geostrophic_northward_sea_water_velocity_assuming_sea_level_for_geoid", "m s-1"},
    {"surface_northward_sea_water_velocity", "m s-1"},
    {"surface_partial_pressure_of_carbon_dioxide_in_sea_water", "Pa"},
    {"surface_snow_density", "kg m-3"},
    {"surface_snow_thickness", "m"},
    {"surface_temperature", "K"},
    {"tendency_of_land_ice_thickness", "m s-1"},
    {"wind_from_direction", "degree"},
    {"wind_speed", "m s-1"},
    {"wind_speed_of_gust", "m s-1"},
});

const StandardName* find(std::string_view name) {
  name = name.substr(0, name.find(' '));
  const auto found =
      std::lower_bound(kNames.begin(), kNames.end(), name, [](const StandardName& a, std::string_view b) { return a.name < b; });
  return found != kNames.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

std::span<const std::string_view> standard_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const StandardName& known : kNames) all.push_back(known.name);
    return all;
  }();
  return names;
}

bool is_standard_name(std::string_view name) { return find(name) != nullptr; }

std::string_view canonical_unit(std::string_view name) {
  const StandardName* const known = find(name);
  return known == nullptr ? std::string_view() : known->unit;
}

}  // namespace drift
