"""Observations in memory."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _checks, _drift, _html, _keywords, _settings

if TYPE_CHECKING:
    import pandas
    import xarray


_COUNT = itertools.count()


class Dataset:
    """Observations, and what is known about them.

    Built from plain arrays; :meth:`from_pandas`, :meth:`from_xarray` and :func:`drift.read` build it from tables, xarray objects
    and files. Columns are checked as strictly as a file's, then belong to the dataset: later changes of the arrays do not reach it.

    Parameters
    ----------
    lon, lat : array of numbers
        Degrees east and north; on a plane, x and y.
    value : array of numbers
        NaN where missing: such rows are left out.
    time : array of datetime64, timestamps, ISO 8601 texts or numbers, optional
        UTC. Numbers are days of the data's own count, or since 1950-01-01 with ``calendar_time=True``.
    sigma : array of numbers, optional
        Standard deviation of each value's error, in the values' unit.
    track, platform : array, optional
        The pass and the satellite (or whatever carried the instrument) of each observation: numbers or names.
    name, unit, long_name, standard_name : str, optional
        Of the values, in the words of CF.
    on_plane : bool
        Positions are plain x and y, in `plane_unit`.
    calendar_time : bool, optional
        Numeric times are days since 1950-01-01 UTC.
    track_gap_s : float
        Without `track`, a new track begins after so many seconds without observations.

    Examples
    --------
    >>> import numpy as np, drift
    >>> rng = np.random.default_rng(1)
    >>> lon, lat = rng.uniform(-20, 20, 500), rng.uniform(30, 50, 500)
    >>> ds = drift.Dataset(lon, lat, np.sin(lon / 4), name="wave", unit="m")
    >>> len(ds), ds.name, ds.unit
    (500, 'wave', 'm')
    """

    _data: _drift.Dataset

    @_checks.typed
    def __init__(
        self,
        lon: Any,
        lat: Any,
        value: Any,
        time: Any = None,
        *,
        sigma: Any = None,
        track: Any = None,
        platform: Any = None,
        name: str = "",
        unit: str = "",
        long_name: str = "",
        standard_name: str = "",
        on_plane: bool = False,
        plane_unit: str = "",
        calendar_time: Optional[bool] = None,
        track_gap_s: float = 60.0,
        _provenance: str = "arrays",
        _called: Mapping[str, str] = {},
    ) -> None:
        called = {role: _called.get(role, role) for role in _COLUMNS}  # what the caller calls each column
        columns: Dict[str, Optional[np.ndarray]] = dict.fromkeys(_COLUMNS)
        for role, column in (("lon", lon), ("lat", lat), ("value", value), ("sigma", sigma)):
            if column is not None:
                columns[role] = _arrays.numbers(called[role], column)
            elif role != "sigma":
                raise _checks.refuse(role, "an array of numbers", column)
        is_calendar = False
        if time is not None:
            columns["time"], is_calendar = _arrays.times(called["time"], time)
            if calendar_time is not None:
                if is_calendar and not calendar_time:
                    raise _drift.UsageError("calendar_time is False, but the times are dates")
                is_calendar = calendar_time
        if track is not None:
            columns["track"], _ = _arrays.codes(called["track"], track)
        names: List[str] = []
        if platform is not None:
            columns["platform"], found = _arrays.codes(called["platform"], platform)
            if len(found) > 255:
                raise _drift.UsageError(f"platform has {len(found)} different entries; there may be 255")
            names = [str(entry) for entry in found]
        self._data = _drift.dataset_from(
            columns, names, (name, long_name, standard_name, unit), bool(on_plane), plane_unit, bool(is_calendar), float(track_gap_s),
            _provenance, {ours: called[role] for role, ours in _COLUMNS.items()},
        )  # fmt: skip

    @functools.cached_property
    def _number(self) -> int:
        """Which of this process's datasets this is."""
        return next(_COUNT)

    @classmethod
    def _of(cls, data: _drift.Dataset) -> "Dataset":
        self = cls.__new__(cls)
        self._data = data
        return self

    @classmethod
    @_checks.typed
    def from_pandas(
        cls,
        frame: "pandas.DataFrame",
        value: Optional[str] = None,
        *,
        lon: Optional[str] = None,
        lat: Optional[str] = None,
        x: Optional[str] = None,
        y: Optional[str] = None,
        time: Optional[str] = None,
        sigma: Optional[str] = None,
        track: Optional[str] = None,
        platform: Optional[str] = None,
        name: Optional[str] = None,
        unit: str = "",
        long_name: str = "",
        standard_name: str = "",
        plane_unit: str = "",
        calendar_time: Optional[bool] = None,
        track_gap_s: float = 60.0,
    ) -> "Dataset":
        """Observations from a table, a row each.

        Columns are found by their usual names, as in a CSV file (``lon``, ``latitude``, ``x``, ``time``, ``sigma``, ``pass``, ...),
        unless they are named here.

        Parameters
        ----------
        frame : pandas.DataFrame
        value, lon, lat, x, y, time, sigma, track, platform : str, optional
            Names of columns; ``"-"``: do as if there were none.
        name, unit, long_name, standard_name, plane_unit, calendar_time, track_gap_s
            As of :class:`Dataset`; the name is the column's unless given.

        Examples
        --------
        >>> import pandas as pd, drift
        >>> frame = pd.DataFrame({"lon": [0.0, 1.0], "lat": [50.0, 51.0], "sst": [8.5, 9.0]})
        >>> drift.Dataset.from_pandas(frame, value="sst").name
        'sst'

        Warns
        -----
        UserWarning
            A column that may hold times, or standard errors of the value, and is not read.
        """
        if not hasattr(frame, "columns") or not hasattr(frame, "index"):
            raise _checks.refuse("from_pandas: the table", "a pandas DataFrame", frame)
        given = {"value": value, "lon": lon, "lat": lat, "x": x, "y": y, "time": time, "sigma": sigma, "track": track, "platform": platform}
        roles = {role: column for role, column in given.items() if column is not None}
        frame = frame.reset_index() if frame.index.name is not None else frame
        first_row = [str(entry) for entry in frame.iloc[0]] if len(frame) > 0 else []
        found, doubts = _drift.roles_of_columns([str(name) for name in frame.columns], roles, first_row)
        for sentence in doubts:
            _checks.warn(_settings.in_python(sentence))
        by_name = {str(name): name for name in frame.columns}
        column = {role: frame[by_name[name]] for role, name in found.items()}
        on_plane = "x" in found
        x_role, y_role = ("x", "y") if on_plane else ("lon", "lat")
        return cls(
            column[x_role], column[y_role], column["value"], column.get("time"), sigma=column.get("sigma"), track=column.get("track"),
            platform=column.get("platform"), name=found["value"] if name is None else name, unit=unit, long_name=long_name,
            standard_name=standard_name, on_plane=on_plane, plane_unit=plane_unit, calendar_time=calendar_time, track_gap_s=track_gap_s,
            _provenance="a table in memory", _called={**found, "lon": found[x_role], "lat": found[y_role]},
        )  # fmt: skip

    @classmethod
    @_checks.typed
    def from_xarray(
        cls,
        data: "Union[xarray.Dataset, xarray.DataArray]",
        value: Optional[str] = None,
        *,
        lon: Optional[str] = None,
        lat: Optional[str] = None,
        x: Optional[str] = None,
        y: Optional[str] = None,
        time: Optional[str] = None,
        sigma: Optional[str] = None,
        track: Optional[str] = None,
        platform: Optional[str] = None,
        name: str = "",
        unit: str = "",
        long_name: str = "",
        standard_name: str = "",
        plane_unit: str = "",
        calendar_time: Optional[bool] = None,
        track_gap_s: float = 60.0,
        preset: Optional[str] = None,
        where: Union[str, Sequence[str]] = (),
        quality_control: bool = True,
    ) -> "Dataset":
        """Observations from an xarray object: along a track, of a swath or on a grid.

        It is understood as its NetCDF file is by :func:`drift.read`: products by their variables, roles by CF's names and units, x
        and y with a grid mapping as longitude and latitude. A variable may lie along some of the value's dimensions and then holds for
        all indices of the others. ``report`` tells what was found, and which entries were left out.

        Parameters
        ----------
        data : xarray.Dataset or xarray.DataArray
        value, lon, lat, x, y, time, sigma, track, platform : str, optional
            Names of variables; ``"-"``: do as if there were none.
        name, unit, long_name, standard_name, plane_unit, calendar_time, track_gap_s
            As of :class:`Dataset`; from the value's attributes unless given.
        preset, where, quality_control
            As of :func:`drift.read`.

        Warns
        -----
        UserWarning
            What is doubtful, and entries with a value that were left out because something else of them is missing or impossible.

        Examples
        --------
        >>> import numpy as np, xarray as xr, drift
        >>> sst = xr.DataArray(np.ones((2, 3)), coords={"lat": [50.0, 51.0], "lon": [0.0, 1.0, 2.0]}, name="sst", attrs={"units": "degC"})
        >>> ds = drift.Dataset.from_xarray(sst)
        >>> len(ds), ds.unit
        (6, 'degC')
        """
        from . import _xarray

        data, value = _xarray.as_dataset(data, value)
        given = {
            "value": value, "lon": lon, "lat": lat, "x": x, "y": y, "time": time, "sigma": sigma, "track": track, "platform": platform,
            "units": unit or None, "long_name": long_name or None, "standard_name": standard_name or None, "track_gap_s": track_gap_s,
            "preset": preset, "where": where or None, "no_quality_control": not quality_control,
            "time_units": "days since 1950-01-01" if calendar_time else None,
        }  # fmt: skip
        made = cls._of(_xarray.read(data, _keywords.apply(_drift.Settings(), "read", given), name, plane_unit))
        if calendar_time is False and made._data.calendar_time:
            raise _drift.UsageError("calendar_time is False, but the times are dates")
        made._warn_of_report()
        return made

    def _warn_of_report(self) -> None:
        report = self._data.report() or {}
        for sentence in report["warnings"]:
            _checks.warn(_settings.in_python(sentence))
        odd = {reason: count for reason, count in report["rejected"].items() if reason.endswith((" missing", " degrees", " zero")) and reason != "value missing"}
        if odd:
            reasons = ", ".join(f"{reason} ({count:,})" for reason, count in odd.items())
            _checks.warn(f"{sum(odd.values()):,} of {report['rows']:,} entries were left out: {reasons}")

    def __getstate__(self) -> _drift.Dataset:
        return self._data

    def __setstate__(self, data: _drift.Dataset) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    @property
    def lon(self) -> np.ndarray:
        """Degrees east in [-180, 180), or x; a read-only view, as all columns."""
        return self._data.lon

    @property
    def lat(self) -> np.ndarray:
        """Degrees north, or y."""
        return self._data.lat

    @property
    def time(self) -> Optional[np.ndarray]:
        """datetime64 (UTC), or plain numbers; None: the field does not vary in time."""
        return _arrays.as_datetime(self._data.time_days) if self._data.calendar_time else self._data.time_days

    @property
    def value(self) -> np.ndarray:
        """In the values' unit."""
        return self._data.value

    @property
    def sigma(self) -> Optional[np.ndarray]:
        """Standard deviations of the values' errors; None: not known."""
        return self._data.sigma

    @property
    def track(self) -> Optional[np.ndarray]:
        """Number of each observation's track: the groups for a GroupKFold; None: the data have none."""
        return self._data.track

    @property
    def platform(self) -> Optional[np.ndarray]:
        """Name of each observation's platform; None: not known."""
        index = self._data.platform
        return None if index is None else np.asarray(self._data.platform_names)[index]

    @property
    def name(self) -> str:
        """Of the values."""
        return self._data.name

    @property
    def unit(self) -> str:
        """Of the values; empty: not known."""
        return self._data.unit

    @property
    def test(self) -> np.ndarray:
        """Rows that score a fit and are never trained on."""
        return self._data.test

    def with_test(self, test: "Dataset") -> "Dataset":
        """Both together, with the rows of `test` as the test set: they score a fit and are never trained on.

        Examples
        --------
        >>> import drift
        >>> first = drift.simulate(days=1, observations=300, bbox=(-20, 30, 20, 50), platforms=["Sentinel-3A"])
        >>> other = drift.simulate(days=1, observations=300, bbox=(-20, 30, 20, 50), platforms=["CryoSat-2"])
        >>> both = first.with_test(other)
        >>> len(both) == len(first) + len(other), len(both.test) == len(other)
        (True, True)
        """
        return Dataset._of(self._data.with_test(_checks.dataset("with_test: the test set", test)))

    def with_test_platforms(self, platforms: Union[str, Sequence[str]]) -> "Dataset":
        """The same observations, those of these platforms as the test set.

        Examples
        --------
        >>> import drift
        >>> ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50)).with_test_platforms("CryoSat-2")
        >>> set(ds.platform[ds.test].tolist())
        {'CryoSat-2'}
        """
        return Dataset._of(self._data.with_test_platforms(_checks.texts("platforms", platforms)))

    def summary(self) -> Dict[str, Any]:
        """Extent, platforms, tracks and the distribution of the values, as ``drift inspect`` prints them.

        Examples
        --------
        >>> import drift
        >>> summary = drift.Dataset([0.0, 1.0, 2.0], [50.0, 51.0, 52.0], [8.5, 9.0, 9.2]).summary()
        >>> summary["count"], summary["lon"], summary["quantiles"][0.5]
        (3, (0.0, 2.0), 9.0)
        """
        return self._data.summary()

    @property
    def report(self) -> Optional[Dict[str, Any]]:
        """How files or an xarray object were understood: roles, rows left out and why, warnings. None: of arrays, tables and simulations."""
        return self._data.report()

    def to_pandas(self) -> "pandas.DataFrame":
        """A table with a row per observation.

        Examples
        --------
        >>> import drift
        >>> drift.Dataset([0.0, 1.0], [50.0, 51.0], [8.5, 9.0], name="sst").to_pandas()
           lon   lat  sst
        0  0.0  50.0  8.5
        1  1.0  51.0  9.0
        """
        import pandas

        x, y = ("x", "y") if self._data.on_plane else ("lon", "lat")
        columns = {x: self.lon, y: self.lat, "time": self.time, self.name: self.value}
        columns.update(sigma=self.sigma, track=self.track, platform=self.platform)
        return pandas.DataFrame({name: column for name, column in columns.items() if column is not None})

    def save(self, path: Any) -> None:
        """Writes a CF NetCDF file of points that :func:`drift.read` and the command read back to the last bit.

        Examples
        --------
        >>> import drift
        >>> ds = drift.Dataset([0.0, 1.0], [50.0, 51.0], [8.5, 9.0], name="sst", unit="degC")
        >>> ds.save("sst.nc")
        >>> bool((drift.read("sst.nc").value == ds.value).all())
        True
        """
        self._data.save(_checks.path("path", path))

    def _rows(self) -> List[Tuple[str, str]]:
        summary = self._data.summary()
        unit = "" if self.unit in ("", "1") else " " + self.unit
        x, y = ("x", "y") if self._data.on_plane else ("longitude", "latitude")
        rows = [
            ("values", f"mean {summary['mean']:.4g}{unit}, sd {summary['sd']:.4g}{unit}"),
            (x, "{:.4f} to {:.4f}".format(*summary["lon"])),
            (y, "{:.4f} to {:.4f}".format(*summary["lat"])),
        ]
        if "time_days" in summary:
            first, last = summary["time_days"]
            shown = [_drift.iso_time(t) if self._data.calendar_time else f"{t:g}" for t in (first, last)]
            rows.append(("time", f"{shown[0]} to {shown[1]} ({last - first:.4g} days)"))
        if summary["tracks"]:
            rows.append(("tracks", f"{summary['tracks']:,}, from {self._data.tracks_from}"))
        if summary["platforms"]:
            rows.append(("platforms", ", ".join(f"{name} ({count:,})" for name, count in summary["platforms"].items())))
        if len(self.test):
            rows.append(("test set", f"{len(self.test):,} of them"))
        return rows

    def _title(self) -> str:
        return f"drift.Dataset '{self.name}'{f' ({self.unit})' if self.unit else ''}: {len(self):,} observations"

    def __repr__(self) -> str:
        return _html.text(self._title(), self._rows())

    def _repr_html_(self) -> str:
        return _html.table(self._title(), self._rows())


# What this class calls its columns, and what the library's messages call them.
_COLUMNS = {"lon": "lon_deg", "lat": "lat_deg", "value": "value", "time": "time_days", "sigma": "sigma", "track": "track", "platform": "platform"}
