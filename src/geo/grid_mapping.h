#pragma once

#include <map>
#include <string>
#include <vector>

namespace drift {

// An attribute of a CF grid-mapping variable: a text, or numbers.
struct CfAttribute {
  std::string text = {};
  std::vector<double> numbers = {};

  bool operator==(const CfAttribute&) const = default;
};
using CfAttributes = std::map<std::string, CfAttribute>;

// Attributes of a projected CRS's grid-mapping variable, after CF-1.8, appendix F: crs_wkt (WKT2) and the ellipsoid always,
// grid_mapping_name and the projection's parameters where CF has a name for it. Lengths are in metres, whatever the CRS's unit.
// Throws UsageError with PROJ's reason when there is no such projected CRS.
CfAttributes grid_mapping_of(const std::string& crs);

// The same of longitudes and latitudes: latitude_longitude on WGS 84.
CfAttributes geographic_grid_mapping();

// The projected CRS that a grid-mapping variable describes, as PROJ reads it: "EPSG:6931" where its WKT gives that number, else
// WKT or a PROJ string; empty for longitudes and latitudes (latitude_longitude). Plane coordinates are in metres. From crs_wkt
// (or GDAL's spatial_ref), else from grid_mapping_name and parameters, else from a PROJ string or an EPSG number among the
// attributes. Throws Error saying what is missing or not known.
std::string crs_of_grid_mapping(const CfAttributes& attributes);

}  // namespace drift
