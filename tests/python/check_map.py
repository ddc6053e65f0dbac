"""Opens a map that drift wrote as a user of xarray would, and checks what the user relies on.

    check_map.py MAP.nc VARIABLE [--times N] [--members N] [--missing] [--projected]

Exit status 0: all as it should be; 1: something is not, said on stderr. Needs xarray and netCDF4.
"""

import argparse
import sys

import numpy as np
import xarray as xr


def check(good, what):
    if not good:
        sys.exit(f"check_map: {what}")


def check_axis(data, name, units, standard_name):
    check(name in data.coords, f"no coordinate '{name}'")
    axis = data.coords[name]
    check(axis.attrs.get("units") == units, f"{name}: units {axis.attrs.get('units')!r} instead of {units!r}")
    check(axis.attrs.get("standard_name") == standard_name, f"{name}: standard_name {axis.attrs.get('standard_name')!r}")
    check(np.isfinite(axis.values).all(), f"{name}: missing coordinates")
    check((np.diff(axis.values) > 0).all(), f"{name}: not ascending")


def check_projected(data, field):
    check_axis(data, "x", "m", "projection_x_coordinate")
    check_axis(data, "y", "m", "projection_y_coordinate")
    mapping = field.encoding.get("grid_mapping", field.attrs.get("grid_mapping"))
    check(mapping in data.variables, f"grid_mapping {mapping!r} is no variable")
    check("PROJCRS" in data[mapping].attrs.get("crs_wkt", ""), "the grid mapping has no crs_wkt")
    for name, most in (("longitude", 180), ("latitude", 90)):
        check(name in field.coords, f"no coordinate '{name}' of the field")
        values = field.coords[name].values
        check(values.shape == field.shape[-2:], f"{name} has shape {values.shape}, the field {field.shape}")
        check(np.nanmax(np.abs(values)) <= most, f"{name} beyond {most}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("map")
    parser.add_argument("variable")
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--members", type=int, default=0)
    parser.add_argument("--missing", action="store_true", help="some values must be missing")
    parser.add_argument("--projected", action="store_true")
    options = parser.parse_args()

    with xr.open_dataset(options.map) as data:
        check(data.attrs.get("Conventions") == "CF-1.8, ACDD-1.3", f"Conventions are {data.attrs.get('Conventions')!r}")
        wanted = "title date_created source geospatial_lat_min geospatial_lon_max geospatial_bounds standard_name_vocabulary"
        for name in wanted.split():
            check(name in data.attrs, f"no global attribute '{name}'")
        check(options.variable in data.data_vars, f"'{options.variable}' is not among {list(data.data_vars)}")
        field = data[options.variable]
        check(field.dtype == np.float32, f"'{options.variable}' is {field.dtype}")
        for name in ("long_name", "units"):
            check(name in field.attrs, f"'{options.variable}' has no {name}")
        dimensions = ("time",) * (options.times > 0) + ("member",) * (options.members > 0)
        dimensions += ("y", "x") if options.projected else ("latitude", "longitude")
        check(field.dims == dimensions, f"dimensions {field.dims} instead of {dimensions}")
        if options.times:
            check(data.time.dtype.kind == "M", f"times were not decoded: {data.time.dtype}")
            check(data.sizes["time"] == options.times, f"{data.sizes['time']} times")
            start = np.datetime64(data.attrs["time_coverage_start"].rstrip("Z"))
            check(abs(data.time.values[0] - start) < np.timedelta64(1, "s"), "time_coverage_start is not the first time")
        if options.members:
            check(data.sizes["member"] == options.members, f"{data.sizes['member']} members")
        if options.projected:
            check_projected(data, field)
        else:
            check_axis(data, "latitude", "degrees_north", "latitude")
            check_axis(data, "longitude", "degrees_east", "longitude")
        values = field.values
        check(np.isfinite(values).any(), "no value at all")
        check(np.nanmax(np.abs(values)) < 1e30, "a fill value came through as a number")
        check(np.isnan(values).any() or not options.missing, "nothing is missing")
    print(f"{options.map}: as it should be")


if __name__ == "__main__":
    main()
