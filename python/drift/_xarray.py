"""xarray objects: observations out of them, fields into them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _drift

if TYPE_CHECKING:
    import xarray

# How CF tells coordinates: by standard name, by unit, by axis; else the usual names do.
_STANDARD_NAMES = {
    "lon": ("longitude",),
    "lat": ("latitude",),
    "time": ("time",),
    "x": ("projection_x_coordinate",),
    "y": ("projection_y_coordinate",),
}
_UNITS = {
    "lon": ("degrees_east", "degree_east", "degrees_E", "degree_E", "degreesE", "degreeE"),
    "lat": ("degrees_north", "degree_north", "degrees_N", "degree_N", "degreesN", "degreeN"),
}
_NAMES = {
    "lon": ("lon", "longitude"),
    "lat": ("lat", "latitude"),
    "time": ("time",),
    "x": ("x", "easting"),
    "y": ("y", "northing"),
}


def columns(data: Any, value: Optional[str], roles: Mapping[str, str]) -> Tuple[Dict[str, Any], Dict[str, str], Dict[str, str]]:
    """One-dimensional columns by role, their names by role, and what the value's attributes say of it."""
    import xarray

    if isinstance(data, xarray.DataArray):
        data = data.to_dataset(name=value or data.name or "value") if value or data.name is None else data.to_dataset()
        value = value or str(list(data.data_vars)[0])
    if not isinstance(data, xarray.Dataset):
        raise _drift.UsageError(f"from_xarray takes a Dataset or a DataArray, not a {type(data).__name__}")
    value = value if value is not None else _only_value(data, roles)
    found: Dict[str, Any] = {"value": _named(data, "value", value)}
    for role, name in roles.items():
        if name != "-":
            found[role] = _named(data, role, name)
    for role in ("lon", "lat", "time"):
        if role not in roles and (guess := _find(data, role, found["value"])) is not None:
            found[role] = guess
    if "lon" not in found and "lat" not in found:
        for role in ("x", "y"):
            if role not in roles and (guess := _find(data, role, found["value"])) is not None:
                found[role] = guess
    if "sigma" not in roles and (sigma := _standard_error(data, found["value"])) is not None:
        found["sigma"] = sigma
    positions = ("x", "y") if "x" in found or "y" in found else ("lon", "lat")
    for role in positions:
        if role not in found:
            raise _drift.UsageError(f"no coordinate is recognised as {role} by CF names and units; name it: {role}='...'")
    called = {role: str(array.name) for role, array in found.items()}
    return _broadcast(found), called, _attributes(value, found["value"])


def _named(data: "xarray.Dataset", role: str, name: str) -> Any:
    if name not in data.variables:
        known = [str(entry) for entry in data.variables]
        raise _drift.UsageError(f"{role}: there is no variable '{name}'{_drift.did_you_mean(name, known)}")
    return data[name]


def _only_value(data: "xarray.Dataset", roles: Mapping[str, str]) -> str:
    ancillary = {word for v in data.data_vars.values() for word in str(v.attrs.get("ancillary_variables", "")).split()}
    taken = set(roles.values()) | ancillary
    names = [str(n) for n, v in data.data_vars.items() if n not in taken and v.ndim > 0 and v.dtype.kind in "fiu"]
    names = [n for n in names if not n.endswith("_bounds")]
    if len(names) != 1:
        raise _drift.UsageError(f"the values may be any of {', '.join(names)}; name them: value='...'" if names else "there are no values")
    return names[0]


def _find(data: "xarray.Dataset", role: str, value: Any) -> Any:
    """The coordinate of this role that lies along dimensions of the value; None: there is none."""
    fits = [v for v in data.variables if set(data[v].dims) <= set(value.dims) and v != value.name]
    tests: List[Callable[[Any], bool]] = [
        lambda v: data[v].attrs.get("standard_name") in _STANDARD_NAMES[role],
        lambda v: data[v].attrs.get("units") in _UNITS.get(role, ()),
        lambda v: str(v).lower() in _NAMES[role],
        lambda v: role == "time" and data[v].dtype.kind == "M" and v in data.coords,
    ]
    for test in tests:
        named = [v for v in fits if test(v)]
        if named:
            return data[named[0]]
    return None


def _standard_error(data: "xarray.Dataset", value: Any) -> Any:
    for name in str(value.attrs.get("ancillary_variables", "")).split():
        if name in data and str(data[name].attrs.get("standard_name", "")).endswith(" standard_error"):
            return data[name]
    return None


def _broadcast(found: Mapping[str, Any]) -> Dict[str, Any]:
    import xarray

    value = found["value"]
    if value.dtype.kind not in "fiu":
        raise _drift.UsageError(f"value must hold numbers, but the type of '{value.name}' is {value.dtype}")
    for role, array in found.items():
        if not set(array.dims) <= set(value.dims):
            raise _drift.UsageError(f"{role}: '{array.name}' lies along {array.dims}, the values along {value.dims}")
        if array.dtype.kind == "O" and role == "time":
            raise _drift.UsageError(f"time: '{array.name}' has a calendar that is not the Gregorian one; convert it with convert_calendar")
    kept = ~np.isnan(np.asarray(value.values, dtype=float)).ravel()
    if not kept.any():
        raise _drift.Error("there are no observations: no row has a value")
    out: Dict[str, Any] = {}
    for role, array in found.items():
        # Along the value's dimensions in the value's order.
        _, wide = xarray.broadcast(value.reset_coords(drop=True), array.reset_coords(drop=True))
        numbers = wide.transpose(*value.dims).values.ravel()
        out[role] = numbers if kept.all() else numbers[kept]
    return out


def _attributes(name: str, value: Any) -> Dict[str, str]:
    attributes = {"name": str(name)}
    for key, attribute in (("unit", "units"), ("long_name", "long_name"), ("standard_name", "standard_name")):
        if attribute in value.attrs:
            attributes[key] = str(value.attrs[attribute])
    problem = _drift.standard_name_problem(attributes.get("standard_name", ""))
    if problem:
        warnings.warn(f"{problem}; it is left out", stacklevel=4)
        del attributes["standard_name"]
    return attributes


def field(variables: Any, attributes: Mapping[str, Any]) -> "xarray.Dataset":
    """A predicted field as xarray would read it from the command's NetCDF file."""
    import xarray

    from . import _accessor  # noqa: F401  registers .drift

    raw: Dict[str, Any] = {}
    for name, dimensions, numbers, attrs, is_layer in variables:
        if is_layer:
            ends = np.array([np.fmin.reduce(numbers, axis=None), np.fmax.reduce(numbers, axis=None)])  # NaN aside, without a copy
            if not np.isnan(ends[0]):
                attrs = {**attrs, "actual_range": ends}
        if numbers is None:
            numbers = np.int32(-2147483647)  # what a file's grid mapping holds: netCDF's fill value
        raw[name] = xarray.Variable(tuple(dimensions), numbers, attrs)
    return xarray.decode_cf(xarray.Dataset(raw, attrs=dict(attributes)))
