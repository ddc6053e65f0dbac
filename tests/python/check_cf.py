"""Checks a map against the rules of CF-1.8 that drift's maps must keep, whatever their grid; no CF checker is packaged for Debian.

    check_cf.py NAMES MAP.nc...             NAMES: src/data/standard_name_table.cpp, the standard names that drift knows
    check_cf.py --test NAMES MAP.nc         breaks a copy of the map in each way that a rule forbids, which must be noticed

Exit status 0: all as it should be; 1: something is not, one per line on stderr. Needs netCDF4.
"""

import os
import re
import shutil
import sys
import tempfile

import netCDF4

MODIFIERS = ("detection_minimum", "number_of_observations", "standard_error", "status_flag")
BASES = "1|m|km|mm|cm|s|days?|hours?|K|degC|Pa|hPa|dbar|kg|g|mol|J|W|psu|percent|%|degrees?(_north|_east|_true)?|1e-?[0-9]+|1e-3"
UNIT = re.compile(rf"({BASES})(-?[1-9])?([ .]({BASES})(-?[1-9])?)*")
TIME_UNIT = re.compile(r"(days|hours|minutes|seconds) since \d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?")
METHOD = re.compile(r"(\w+: )+(point|mean|median|sum|minimum|maximum|standard_deviation|variance)( (\w+: )+\w+)*")


def problems(path, known):
    found = []
    with netCDF4.Dataset(path) as file:
        names = list(file.variables)
        attribute = lambda name, key: getattr(file.variables[name], key, "")  # noqa: E731
        mappings = {attribute(name, "grid_mapping") for name in names} - {""}
        positions = {word for name in names for word in attribute(name, "coordinates").split()}
        bounds = {attribute(name, "bounds") for name in names} - {""}
        described = [n for n in names if n not in file.dimensions and n not in mappings | positions | bounds]
        fields = [n for n in described if file.variables[n].ndim >= 2]
        if "CF-1.8" not in getattr(file, "Conventions", ""):
            found.append("Conventions do not name CF-1.8")
        if not fields:
            found.append("there is no field")
        for name in names:
            if not re.fullmatch(r"[A-Za-z]\w*", name):
                found.append(f"{name}: no name of CF")
            found += of_variable(file, name, known)
        after = [n for n in names if n not in fields and n not in file.dimensions and n != "time"]
        if fields and after and names.index(fields[-1]) > min(names.index(n) for n in after):
            found.append("fields do not come before what describes the grid")
        on_earth = {"latitude", "longitude"} <= set(file.variables) or mappings
        for name in fields:
            found += of_field(file, name, on_earth)
        for name in mappings:
            if name in file.variables and not attribute(name, "crs_wkt"):
                found.append(f"{name}: no crs_wkt")
    return found


def of_variable(file, name, known):
    found, variable = [], file.variables[name]
    units = getattr(variable, "units", None)
    if units is not None and not UNIT.fullmatch(units) and not TIME_UNIT.fullmatch(units):
        found.append(f"{name}: units '{units}'")
    standard = getattr(variable, "standard_name", None)
    if standard is not None:
        base, _, modifier = standard.partition(" ")
        if base not in known or modifier and modifier not in MODIFIERS:
            found.append(f"{name}: standard_name '{standard}'")
        if units is None:
            found.append(f"{name}: a standard_name without units")
    if not getattr(variable, "long_name", "") and standard is None:
        found.append(f"{name}: neither long_name nor standard_name")
    for key in ("ancillary_variables", "coordinates", "bounds", "grid_mapping"):
        for word in getattr(variable, key, "").split():
            if word not in file.variables:
                found.append(f"{name}: {key} names '{word}', which is not there")
    limits = getattr(variable, "actual_range", None)
    if limits is not None and not (len(limits) == 2 and limits[0] <= limits[1] and limits.dtype == variable.dtype):
        found.append(f"{name}: actual_range {limits}")
    if name in file.dimensions and variable.dimensions == (name,) and variable.size > 1:
        if not (variable[1:] > variable[:-1]).all():
            found.append(f"{name}: the axis does not ascend")
    return found


def of_field(file, name, on_earth):
    found, variable = [], file.variables[name]
    order = {"time": 0, "member": 1}
    ranks = [order.get(d, 2) for d in variable.dimensions]
    if ranks != sorted(ranks):
        found.append(f"{name}: dimensions {variable.dimensions}")
    if on_earth and not getattr(variable, "grid_mapping", ""):
        found.append(f"{name}: no grid_mapping")
    coordinates = getattr(variable, "coordinates", "").split()
    if "x" in variable.dimensions and on_earth and coordinates[-2:] != ["longitude", "latitude"]:
        found.append(f"{name}: no longitudes and latitudes")
    if "time" in file.variables and "time" not in [*variable.dimensions, *coordinates]:
        found.append(f"{name}: no time, neither as a dimension nor among the coordinates")
    methods = getattr(variable, "cell_methods", "")
    if not METHOD.fullmatch(methods):
        found.append(f"{name}: cell_methods '{methods}'")
    for word in re.findall(r"(\w+):", methods):
        if word != "area" and word not in [*variable.dimensions, *coordinates]:
            found.append(f"{name}: cell_methods of '{word}', which is no dimension and no coordinate")
    if not hasattr(variable, "_FillValue"):
        found.append(f"{name}: no _FillValue")
    for other in getattr(variable, "ancillary_variables", "").split():
        if other in file.variables and file.variables[other].shape != variable.shape:
            found.append(f"{name}: '{other}' has another shape")
    return found


def broken(file):
    """Each way to break the map: what the complaint must mention, and the change."""
    field = next(n for n in file.variables if hasattr(file.variables[n], "ancillary_variables"))
    variable = file.variables[field]
    yield "standard_name", lambda: variable.setncattr("standard_name", "ssh")
    yield "units", lambda: variable.setncattr("units", "metres of water?")
    yield "cell_methods", lambda: variable.delncattr("cell_methods")
    yield "no time", lambda: [file.createVariable("late", "f4", variable.dimensions[1:])]
    yield "no dimension", lambda: variable.setncattr("cell_methods", "depth: mean")
    yield "grid_mapping", lambda: variable.delncattr("grid_mapping")
    yield "not there", lambda: variable.setncattr("ancillary_variables", "nobody")
    yield "crs_wkt", lambda: file.variables["crs"].delncattr("crs_wkt")
    yield "Conventions", lambda: file.setncattr("Conventions", "COARDS")
    yield "does not ascend", lambda: file.variables["latitude"].__setitem__(0, 80.0)
    yield "long_name", lambda: [file.createVariable("late", "f4", variable.dimensions)]
    yield "do not come before", lambda: [file.createVariable("late", "f4", variable.dimensions, fill_value=9.0)]


def test_itself(path, known):
    missed, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "map.nc")
        while True:
            shutil.copy(path, copy)
            with netCDF4.Dataset(copy, "a") as file:
                ways = list(broken(file))
                if count == len(ways):
                    return missed
                complaint, change = ways[count]
                change()
            if not any(complaint in line for line in problems(copy, known)):
                missed.append(f"was not noticed: {complaint}")
            count += 1


def main():
    arguments = sys.argv[1:]
    itself = arguments[0] == "--test"
    names, *maps = arguments[1:] if itself else arguments
    with open(names) as table:
        known = set(re.findall(r'\{"(\w+)", "', table.read()))
    lines = test_itself(maps[0], known) if itself else [f"{map}: {line}" for map in maps for line in problems(map, known)]
    sys.exit("\n".join(lines) if lines else 0)


main()
