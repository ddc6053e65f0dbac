"""Columns of numbers and times from whatever the user has: lists, NumPy, pandas, xarray."""

from __future__ import annotations

import datetime
from typing import Any, Optional, Tuple

import numpy as np

from . import _drift

_EPOCH = np.datetime64("1950-01-01T00:00:00", "s")
_DAY_S = 86400


def numbers(name: str, values: Any) -> np.ndarray:
    """A one-dimensional array of numbers, the caller's own memory where it is one already. Missing entries are NaN."""
    if isinstance(values, np.ma.MaskedArray):
        masked: Any = values
        values = masked.astype(float).filled(np.nan)
    elif getattr(getattr(values, "dtype", None), "na_value", None) is not None:  # pandas' nullable numbers
        values = values.to_numpy(dtype=float, na_value=np.nan)
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of unequal length
        raise _drift.UsageError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim != 1:
        raise _drift.UsageError(f"{name} has {array.ndim} dimensions, shape {array.shape}; it must have one")
    if array.dtype.kind not in "fiu":
        raise _drift.UsageError(f"{name} must hold numbers, but its type is {array.dtype}")
    return array


def times(name: str, values: Any) -> Tuple[np.ndarray, bool]:
    """Days since 1950-01-01 UTC, and True; or plain numbers as they are, and False.

    Times are datetime64, pandas timestamps, datetime.datetime, or texts after ISO 8601; none may have a time zone other than UTC.
    """
    if is_one(values):
        values = np.asarray(values).reshape(1) if hasattr(values, "dtype") else [values]
    zone = getattr(getattr(values, "dtype", None), "tz", None)
    if zone is not None:
        values = _without_zone(name, zone, values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise _drift.UsageError(f"{name} has {array.ndim} dimensions, shape {array.shape}; it must have one")
    if array.dtype.kind == "U":
        return np.array([_drift.parse_time(str(text)) for text in array], dtype=float), True
    if array.dtype.kind == "O" and array.size > 0:
        array = _from_objects(name, array)
        if array.dtype.kind == "f":
            return array, True
    if array.dtype.kind == "M":
        return days(array), True
    return numbers(name, array), False


def is_one(values: Any) -> bool:
    """A single number, text or time."""
    return isinstance(values, str) or np.ndim(values) == 0


def days(array: np.ndarray) -> np.ndarray:
    """datetime64 as days since 1950-01-01."""
    # Whole days and the rest of one apart: nanoseconds since 1950 have more digits than a double.
    days = array.astype("datetime64[D]")
    seconds = (array - days) / np.timedelta64(1, "s")
    whole = (days - _EPOCH.astype("datetime64[D]")).astype(float)
    whole[np.isnat(array)] = np.nan
    return np.asarray(whole + seconds / _DAY_S)


def _without_zone(name: str, zone: Any, values: Any) -> Any:
    if str(zone) not in ("UTC", "utc", "UTC+00:00", "tzutc()"):
        raise _drift.UsageError(
            f"{name} has the time zone {zone}; drift's times are UTC: convert them, as .dt.tz_convert('UTC').dt.tz_localize(None)"
        )
    return values.dt.tz_localize(None) if hasattr(values, "dt") else values.tz_localize(None)


def _from_objects(name: str, array: np.ndarray) -> np.ndarray:
    if all(isinstance(entry, str) for entry in array):
        return np.array([_drift.parse_time(entry) for entry in array], dtype=float)
    for entry in array:
        zone = getattr(entry, "tzinfo", None)
        if zone is not None and zone.utcoffset(entry) != datetime.timedelta(0):
            raise _drift.UsageError(f"{name} has the time zone {zone}; drift's times are UTC: convert them first")
    if all(isinstance(entry, (datetime.date, np.datetime64)) for entry in array):
        plain = [entry.replace(tzinfo=None) if getattr(entry, "tzinfo", None) else entry for entry in array]
        return np.array(plain, dtype="datetime64[ns]")
    raise _drift.UsageError(f"{name} must hold times or numbers, but its first entry is a {type(array[0]).__name__}")


def codes(name: str, values: Any) -> Tuple[np.ndarray, list]:
    """Entries of any kind, as tracks and platforms have them, by number, and what each number stands for, in order."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise _drift.UsageError(f"{name} has {array.ndim} dimensions, shape {array.shape}; it must have one")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise _drift.UsageError(f"{name} is nan in row {int(np.isnan(array).argmax())}")
    if array.dtype.kind == "O":
        array = array.astype(str)
    found, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the order of their first rows
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[inverse], list(found[order])


def as_datetime(days: Optional[np.ndarray]) -> Optional[np.ndarray]:
    """Days since 1950-01-01 as datetime64[ns], to the microsecond, which is what a double has of them."""
    if days is None:
        return None
    whole = np.floor(days)
    rest = np.round((days - whole) * (_DAY_S * 1e6)).astype("timedelta64[us]")
    return np.asarray(_EPOCH.astype("datetime64[ns]") + whole.astype("timedelta64[D]") + rest)
