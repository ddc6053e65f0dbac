"""Columns of numbers and times from whatever the user has: lists, NumPy, pandas, xarray."""

from __future__ import annotations

import datetime
from typing import Any, Optional, Tuple

import numpy as np

from . import _drift

_EPOCH = np.datetime64("1950-01-01T00:00:00", "s")
_DAY_S = 86400
_ma: Any = np.ma  # which has no types


def entries(name: str, values: Any) -> np.ndarray:
    """The entries as a plain array, the caller's own memory where it is one. What a mask hides, or pandas knows as missing, is NaN, NaT or None."""
    dtype = getattr(values, "dtype", None)
    if isinstance(values, np.ma.MaskedArray):
        return _without_mask(values)
    if dtype is not None and hasattr(dtype, "na_value") and dtype.kind != "M":  # pandas' own types: Int64, boolean, string, category, ...
        if dtype.kind in "fiu":
            return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
        return np.asarray(values.to_numpy(dtype=object, na_value=None))
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of unequal length
        raise _drift.UsageError(f"{name} is no array: {error}") from None


def _without_mask(values: Any) -> np.ndarray:
    if not _ma.is_masked(values):
        return np.asarray(values.data)
    if values.dtype.kind in "fiu":
        return np.asarray(values.astype(float).filled(np.nan))
    if values.dtype.kind == "M":
        return np.asarray(values.filled(np.datetime64("NaT")))
    shown = np.array(values.data, dtype=object)
    shown[_ma.getmaskarray(values)] = None
    return shown


def _column(name: str, values: Any) -> np.ndarray:
    array = entries(name, values)
    if array.ndim != 1:
        raise _drift.UsageError(f"{name} has {array.ndim} dimensions, shape {array.shape}; it must have one")
    return array


def numbers(name: str, values: Any) -> np.ndarray:
    """A one-dimensional array of numbers, the caller's own memory where it is one already. Missing entries are NaN."""
    array = _column(name, values)
    if array.dtype.kind not in "fiu":
        raise _drift.UsageError(f"{name} must hold numbers, but its type is {getattr(values, 'dtype', array.dtype)}")
    return array


def times(name: str, values: Any) -> Tuple[np.ndarray, bool]:
    """Days since 1950-01-01 UTC, and True; or plain numbers as they are, and False. Missing entries are NaN.

    Times are datetime64, pandas timestamps, datetime.datetime, or texts after ISO 8601; none may have a time zone other than UTC.
    """
    if is_one(values):
        values = entries(name, values).reshape(1) if hasattr(values, "dtype") else [values]
    zone = getattr(getattr(values, "dtype", None), "tz", None)
    if zone is not None:
        _check_zone(name, zone)
        values = values.dt.tz_localize(None) if hasattr(values, "dt") else values.tz_localize(None)
    array = _column(name, values)
    if array.dtype.kind == "U":
        return np.array([_drift.parse_time(str(text)) for text in array], dtype=float), True
    if array.dtype.kind == "O" and array.size > 0:
        return _from_objects(name, array), True
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


def _check_zone(name: str, zone: Any) -> None:
    """UTC is what lies no time from it all year; London in winter is not."""
    if zone.utcoffset(None) != datetime.timedelta(0):
        raise _drift.UsageError(
            f"{name} has the time zone {zone}; drift's times are UTC: convert them, as by tz_convert('UTC') or astimezone(datetime.timezone.utc)"
        )


def _is_missing(entry: Any) -> bool:
    """None, NaN, NaT, pandas.NA: without importing pandas, which has no comparison that tells them all."""
    return entry is None or type(entry).__name__ in ("NAType", "NaTType", "MaskedConstant") or (isinstance(entry, (float, np.generic)) and bool(entry != entry))


def _from_objects(name: str, array: np.ndarray) -> np.ndarray:
    """Days since 1950-01-01 of texts, or of dates."""
    is_known = np.array([not _is_missing(entry) for entry in array])
    known = array[is_known]
    out = np.full(len(array), np.nan)
    if all(isinstance(entry, str) for entry in known):
        out[is_known] = [_drift.parse_time(entry) for entry in known]
        return out
    for entry in known:
        if not isinstance(entry, (datetime.date, np.datetime64)):
            raise _drift.UsageError(f"{name} must hold times or numbers, but one entry is a {type(entry).__name__}")
        zone = getattr(entry, "tzinfo", None)
        if zone is not None:
            _check_zone(name, zone)
    plain = [entry.replace(tzinfo=None) if getattr(entry, "tzinfo", None) else entry for entry in known]
    out[is_known] = days(np.array(plain, dtype="datetime64[us]"))
    return out


def codes(name: str, values: Any) -> Tuple[np.ndarray, list]:
    """Entries of any kind, as tracks and platforms have them, by number, and what each number stands for, in order."""
    array = _column(name, values)
    missing = np.array([_is_missing(entry) for entry in array], dtype=bool) if array.dtype.kind == "O" else array != array
    if missing.any():
        raise _drift.UsageError(f"{name} is missing in row {int(missing.argmax())}")
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
