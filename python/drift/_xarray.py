"""xarray objects: observations out of them, fields into them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _arrays, _drift
from ._progress import Job

if TYPE_CHECKING:
    import xarray

_CALLED = "the xarray object"  # in messages

# What xarray moves out of a variable's attributes when it decodes a file: the library wants it back.
_MOVED = ("units", "coordinates", "grid_mapping", "bounds", "ancillary_variables", "_Unsigned")


def as_dataset(data: Any, value: Optional[str]) -> "Tuple[xarray.Dataset, Optional[str]]":
    """A Dataset or a DataArray as a Dataset, and the name of the values if it is known."""
    import xarray

    if isinstance(data, xarray.DataArray):
        value = value or str(data.name or "value")
        return data.to_dataset(name=value), value
    if not isinstance(data, xarray.Dataset):
        raise _drift.UsageError(f"from_xarray takes a Dataset or a DataArray, not a {type(data).__name__}")
    return data, value


def read(data: "xarray.Dataset", settings: "_drift.Settings", name: str, plane_unit: str) -> "_drift.Dataset":
    """Observations from an xarray object, as the library would read them from its NetCDF file."""
    with Job("Reading") as job:
        return _drift.read_arrays(*_arrays_of(data), settings, name, plane_unit, job)


def grid(data: Any) -> "_drift.Grid":
    """The grid of an xarray object, whose values are not looked at."""
    data, _ = as_dataset(data, None)
    called, lengths, variables, attributes = _arrays_of(data)
    # Only positions matter: dimensions without coordinates, such as those of members, are left aside.
    known = {str(dimension) for axis in data.coords.values() for dimension in axis.dims}
    variables = [(n, [d for d in dims if n in data.coords or d in known], kind, about, load) for n, dims, kind, about, load in variables]
    if not data.data_vars:
        variables.append(("values", [str(d) for d in data.dims if d in known], "float64", {}, lambda: np.empty(0)))
    return _drift.grid_from_arrays(called, lengths, variables, attributes)


def flat_positions(lon: Any, lat: Any, time: Any) -> Tuple[Any, Any, Any, Callable[[Any], "xarray.Dataset"]]:
    """Positions that lie along named dimensions as columns, and what makes a Dataset of results at them."""
    import xarray

    named = lon if isinstance(lon, xarray.DataArray) else lat
    given = [lon, lat] if time is None or _arrays.is_one(time) else [lon, lat, time]
    arrays = [a if isinstance(a, xarray.DataArray) or _arrays.is_one(a) else xarray.DataArray(np.asarray(a), dims=named.dims) for a in given]
    try:
        arrays = xarray.broadcast(*xarray.align(*(xarray.DataArray(a) for a in arrays), join="exact", copy=False))
    except ValueError as error:
        raise _drift.UsageError(f"positions and times do not fit together: {error}") from None
    like = arrays[0]
    flat = [np.asarray(array.transpose(*like.dims).values).ravel() for array in arrays]

    def made(layers: Any) -> "xarray.Dataset":
        variables = {}
        for name, values, attributes in layers:
            dims = ("member", *like.dims) if values.ndim > 1 else like.dims
            variables[name] = (dims, values.reshape(values.shape[:-1] + like.shape), attributes)
        return xarray.Dataset(variables, coords=like.coords)

    return flat[0], flat[1], flat[2] if len(flat) > 2 else time, made


def _arrays_of(data: "xarray.Dataset") -> "Tuple[str, Dict[str, int], List[_Described], _Attributes]":
    variables = [_described(str(name), array) for name, array in data.variables.items()]
    lengths = {str(name): int(length) for name, length in data.sizes.items()}
    return _CALLED, lengths, variables, _attributes(data.attrs)


_Attributes = Dict[str, Union[str, List[Any]]]
_Described = Tuple[str, List[str], str, _Attributes, Callable[[], Any]]


def _described(name: str, array: "xarray.Variable") -> _Described:
    """A variable as the library takes it: name, dimensions, type, attributes, and a function that gives its entries."""
    encoding = array.encoding
    attributes = _attributes({**{key: encoding[key] for key in _MOVED if key in encoding}, **array.attrs})
    kind, type_name = array.dtype.kind, "float64"
    if kind == "M":
        attributes["units"] = "days since 1950-01-01"
        load: Callable[[], Any] = lambda: _arrays.days(_entries(array))  # noqa: E731
    elif kind == "m":
        attributes["units"] = "seconds"
        load = lambda: _entries(array) / np.timedelta64(1, "s")  # noqa: E731
    elif kind == "O" and hasattr(_first(array), "calendar"):
        load = functools.partial(_refuse, f"time: '{name}' has a calendar that is not the Gregorian one; convert it with convert_calendar")
    elif kind in "OSU":
        type_name = "str"
        load = lambda: [_text(entry) for entry in _entries(array)]  # noqa: E731
    elif kind in "fiub":
        type_name = "int8" if kind == "b" else "float64" if kind == "f" and array.dtype.itemsize != 4 else array.dtype.name
        load = lambda: _entries(array)  # noqa: E731
        if "scale_factor" in encoding or "add_offset" in encoding:
            _unpack_limits(attributes, array)
        elif kind == "f" and (stored := np.dtype(encoding.get("dtype", array.dtype))).kind in "iu":  # whole numbers with gaps
            type_name = stored.name
    else:
        load = functools.partial(_refuse, f"'{name}' must hold numbers, but its type is {array.dtype}")
    return name, [str(dimension) for dimension in array.dims], type_name, attributes, load


def _entries(array: "xarray.Variable") -> np.ndarray:
    return np.asarray(array.values).ravel()


def _first(array: "xarray.Variable") -> Any:
    return array[(0,) * array.ndim].values.item() if array.size else None


def _attributes(attributes: Mapping[Any, Any]) -> _Attributes:
    out: _Attributes = {}
    for key, entry in attributes.items():
        if isinstance(entry, (str, bytes)):
            out[str(key)] = _text(entry)
        elif (numbers := np.atleast_1d(entry)).dtype.kind in "fiu" and numbers.size > 0:
            out[str(key)] = numbers.ravel().tolist()
        elif numbers.dtype.kind == "U" and numbers.size > 0:
            out[str(key)] = str(numbers.ravel()[0])
    return out


def _unpack_limits(attributes: _Attributes, array: "xarray.Variable") -> None:
    """xarray unpacks a file's numbers but not their valid range. Limits that are real numbers are unpacked ones already."""
    scale, offset = (float(array.encoding.get(key, usual)) for key, usual in (("scale_factor", 1.0), ("add_offset", 0.0)))
    for key in ("valid_min", "valid_max", "valid_range"):
        limits = attributes.get(key)
        if isinstance(limits, list) and isinstance(limits[0], int):
            attributes[key] = [scale * limit + offset for limit in limits]


def _text(entry: Any) -> str:
    return entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry)


def _refuse(sentence: str) -> Any:
    raise _drift.UsageError(sentence)


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
