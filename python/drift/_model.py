"""A fitted model."""

from __future__ import annotations

import copy
import json
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _arrays, _drift, _html
from ._dataset import Dataset
from ._progress import Job, Progress

if TYPE_CHECKING:
    import xarray

_NO_TIMES = np.empty(0)


class Model:
    """A field fitted to observations: mean and standard deviations anywhere.

    Made by :func:`drift.fit` and :func:`drift.load`. A model does not change, so any number of threads may predict with it at
    once; it pickles and copies through its file form.

    Examples
    --------
    >>> import drift
    >>> model = drift.fit(drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50)), method="process")
    >>> field = model.predict("bbox:-10,35,10,45:5", ["2020-03-01T12:00", "2020-03-02"], gradient=True)
    >>> field["synthetic"].dims, field["synthetic_gradient_east"].shape
    (('time', 'latitude', 'longitude'), (2, 2, 4))
    >>> at = model.predict_at([0.0, 5.0], [40.0, 42.0], "2020-03-02")
    >>> bool((at["synthetic_total_uncertainty"] >= at["synthetic_uncertainty"]).all())
    True
    >>> others = drift.simulate(days=2, observations=200, bbox=(-20, 30, 20, 50), platforms=["CryoSat-2"], seed=5)
    >>> sorted(model.score(others)["groups"])
    ['CryoSat-2']
    >>> model.save("model.safetensors")
    >>> drift.load("model.safetensors").name
    'synthetic'
    """

    def __init__(self, model: _drift.Model, fit: Optional[Mapping[str, Any]] = None) -> None:
        self._model = model
        self._fit = dict(fit or {})

    # Description

    @property
    def name(self) -> str:
        """Of the values."""
        return self._model.name

    @property
    def unit(self) -> str:
        """Of the values; empty: not known."""
        return self._model.unit

    @property
    def scores(self) -> Dict[str, Any]:
        """Scores of forecasts of observations that the forecast had not seen (out of fold, held out, or the test set): ``rmse``,
        ``crps``, ``coverage90`` and so on. Empty: nothing was held out.
        """
        scores: Dict[str, Any] = json.loads(self._model.scores or "{}")
        return scores

    @property
    def settings(self) -> Dict[str, Any]:
        """The run's settings that differ from their defaults, by table, as a run file has them."""
        from . import _toml

        settings: Dict[str, Any] = _toml.loads(self._model.settings)
        return settings

    @property
    def findings(self) -> Dict[str, Any]:
        """Findings of the fit: the noise, the weight of the parts, the process's lengthscales and velocity, the extent and times of the
        observations. Under ``fit``, for a model of this session, every choice with its reason, RMSE of each part, a baseline beside the
        model, warnings, seconds.
        """
        found = self._model.findings()
        if self._fit:
            found["fit"] = copy.deepcopy(self._fit)
        return found

    # Prediction

    def predict(
        self,
        grid: Optional[str] = None,
        time: Any = None,
        *,
        mask: str = "none",
        members: bool = False,
        gradient: bool = False,
        attributes: Optional[Mapping[str, str]] = None,
        backend: str = "auto",
        threads: int = 0,
        progress: Progress = False,
    ) -> "xarray.Dataset":
        """The field on a grid, as the command's map would open in xarray.

        Parameters
        ----------
        grid : str, optional
            ``global:0.25``, ``bbox:LON0,LAT0,LON1,LAT1:STEP``, ``EPSG:6931:25km``, ``xy:X0,Y0,X1,Y1:STEP`` or a NetCDF file whose
            grid to take; chosen from the model if None.
        time : time or list of times, optional
            ISO 8601 texts, datetime64, pandas timestamps, or numbers if the model's times are such. None: the middle of the
            observations'.
        mask : str
            ``none``; ``ocean``: land is left empty; ``data:100km``: so is what lies farther from observations.
        members : bool
            Every network of the ensemble too (every draw, of a variational or dropout model).
        gradient : bool
            The horizontal gradient too, and geostrophic currents of heights above the geoid or the mean sea level.
        attributes : dict, optional
            Global attributes besides drift's own: institution, license, ...
        backend : {'auto', 'cpu', 'cuda'}
        threads : int
            0: one per core.
        progress : bool or callable
            Show a bar, or call ``progress(share, what)``.

        Returns
        -------
        xarray.Dataset
            ``X``, ``X_uncertainty`` (of the field), ``X_total_uncertainty`` (of a new observation), ``X_lower90``, ``X_upper90``
            and what else was asked for, with CF attributes; ``.drift.plot()`` draws it.
        """
        from . import _xarray

        days = self._map_times(time)
        with Job("Predicting", progress, threads=threads) as job:
            variables, attrs, no_currents = _drift.predict_map(
                self._model, os.fspath(grid or ""), days, mask, members, gradient, dict(attributes or {}), "drift (Python)", backend, job
            )
        if gradient and no_currents and "sea" in self._model.long_name.lower():
            warnings.warn(f"no geostrophic currents: {no_currents}", stacklevel=2)
        return _xarray.field(variables, attrs)

    def predict_at(
        self,
        lon: Any,
        lat: Any = None,
        time: Any = None,
        *,
        members: bool = False,
        gradient: bool = False,
        backend: str = "auto",
        threads: int = 0,
        progress: Progress = False,
    ) -> Any:
        """The field at points.

        Parameters
        ----------
        lon, lat : array of numbers
            Degrees, or x and y; NaN gives NaN. A contiguous float64 array is read in place. Or, as the only argument, a
            pandas DataFrame with such columns.
        time : array of times, or one time for all, optional
            As of :meth:`predict`; none where the model has no time.
        members, gradient, backend, threads, progress
            As of :meth:`predict`.

        Returns
        -------
        dict of numpy.ndarray
            By name, as the variables of a map: ``X``, ``X_uncertainty``, ``X_total_uncertainty``, ...; float64, one entry per point
            (``X_members``: [members, points]). For a DataFrame, a DataFrame with its index.
        """
        if lat is None and hasattr(lon, "columns"):
            return self._predict_frame(lon, time, members=members, gradient=gradient, backend=backend, threads=threads, progress=progress)
        if lat is None:
            raise _drift.UsageError("predict_at needs lon and lat, or a DataFrame")
        x, y = _positions("lon", lon), _positions("lat", lat)
        t = self._point_times(time)
        with Job("Predicting", progress, threads=threads) as job:
            layers = _drift.predict_at(self._model, x, y, t, members, gradient, backend, job)
        return {name: values for name, values, _ in layers}

    def _predict_frame(self, frame: Any, time: Any, **options: Any) -> Any:
        import pandas

        on_plane, names = self._model.on_plane, [str(name) for name in frame.columns]
        # The table's value, sigma and so on are not asked for: only where and when.
        given = {role: "-" for role in ("sigma", "track", "platform")}
        asked = names + ["value"] if "value" not in names else names
        found = _drift.roles_of_columns(asked, {**given, "value": "value"})
        if ("x" in found) != on_plane:
            raise _drift.UsageError("the model is defined on " + ("plain x and y" if on_plane else "longitudes and latitudes") + ", but the table has other positions")
        by_name = {str(name): name for name in frame.columns}
        x, y = ("x", "y") if on_plane else ("lon", "lat")
        if time is None and "time" in found and self._model.has_time:
            time = frame[by_name[found["time"]]]
        out = self.predict_at(frame[by_name[found[x]]], frame[by_name[found[y]]], time, **options)
        flat: Dict[str, np.ndarray] = {}
        for name, values in out.items():
            flat.update({name: values} if values.ndim == 1 else {f"{name}_{i + 1}": row for i, row in enumerate(values)})
        return pandas.DataFrame(flat, index=frame.index)

    def _days(self, time: Any) -> np.ndarray:
        """Days, or the model's own numbers."""
        if isinstance(time, str) or np.ndim(time) == 0:
            time = [time] if isinstance(time, str) or not hasattr(time, "to_datetime64") else [time.to_datetime64()]
        days, is_calendar = _arrays.times("time", time)
        if is_calendar and not self._model.calendar_time:
            raise _drift.UsageError("time: the model's times are plain numbers, not dates; give a number")
        return days

    def _map_times(self, time: Any) -> List[float]:
        if not self._model.has_time:
            if time is not None:
                raise _drift.UsageError("time: the model does not vary in time; leave time out")
            return []
        if time is None:
            first, last = self._model.findings()["time_days"]
            return [0.5 * (first + last)]
        days = self._days(time)
        if len(days) == 0 or not np.all(np.diff(days) > 0) or np.isnan(days).any():
            raise _drift.UsageError("time: times must be in ascending order, without repeats")
        self._warn_outside(days)
        return [float(day) for day in days]

    def _point_times(self, time: Any) -> np.ndarray:
        if time is None:
            return _NO_TIMES
        if type(time) is np.ndarray and time.ndim == 1 and time.dtype == np.float64:
            return time
        return self._days(time)

    def _warn_outside(self, days: np.ndarray) -> None:
        for day in {float(days[0]), float(days[-1])}:
            outside = self._model.days_outside(day)
            if outside != 0.0:
                shown = _drift.iso_time(day) if self._model.calendar_time else f"{day:g}"
                which = "before the first" if outside < 0 else "after the last"
                warnings.warn(f"{shown} lies {abs(outside):.3g} days {which} observation: the field there is a guess", stacklevel=4)

    def score(
        self, observations: Dataset, by: str = "platform", *, backend: str = "auto", threads: int = 0, progress: Progress = False
    ) -> Dict[str, Any]:
        """Scores on observations that the model has not seen.

        Parameters
        ----------
        observations : Dataset
        by : {'platform', 'none', 'day', 'region'}
            Groups to score by themselves too.

        Returns
        -------
        dict
            ``rmse``, ``crps``, ``coverage90`` and so on of all; ``trained_share``, the share of the observations that trained the
            model, None where unknown; ``groups``, the same by group.
        """
        with Job("Scoring", progress, threads=threads) as job:
            rows = _drift.score(self._model, observations._data, by, backend, job)
        out: Dict[str, Any] = json.loads(rows[0][1])
        out["trained_share"] = rows[0][2]
        out["groups"] = {name: json.loads(text) for name, text, _ in rows[1:]}
        return out

    # Files

    def save(self, path: Any) -> None:
        """Writes the model as ``drift fit`` does: a safetensors file that the command and :func:`drift.load` read."""
        self._model.save(os.fspath(path))

    def __getstate__(self) -> Tuple[bytes, Dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            self._model.save(path)
            with open(path, "rb") as file:
                return file.read(), self._fit

    def __setstate__(self, state: Tuple[bytes, Dict[str, Any]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            with open(path, "wb") as file:
                file.write(state[0])
            self._model = _drift.load(path)
        self._fit = state[1]

    def __copy__(self) -> "Model":
        return Model(self._model, self._fit)  # nothing of it changes

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Model":
        return Model(self._model, copy.deepcopy(self._fit, memo))

    # Text and HTML

    def _rows(self) -> List[Tuple[str, str]]:
        found, scores = self._model.findings(), self.scores
        unit = "" if self.unit in ("", "1") else " " + self.unit
        parts = {"blend": "networks and a process", "network": "networks", "process": "a process"}
        rows = [
            ("made of", parts.get(found["method"], found["method"]) + (f", {found['members']} members" if found["members"] else "")),
            ("trained on", f"{found['observations']:,} observations"),
            ("domain", found["domain"] + (f" ({found['crs']})" if found["crs"] else "")),
            ("extent", "{:.4g}, {:.4g} to {:.4g}, {:.4g}".format(*found["extent"])),
        ]
        if "time_days" in found:
            shown = [_drift.iso_time(t) if found["calendar_time"] else f"{t:g}" for t in found["time_days"]]
            rows.append(("time", " to ".join(shown)))
        rows.append(("noise", f"sd {found['noise_sd']:.3g}{unit} of an observation"))
        if "rmse" in scores:
            line = f"RMSE {scores['rmse']:.4g}{unit}"
            if scores.get("coverage90") is not None:
                line += f", {100 * scores['coverage90']:.0f} % within the 90 % interval"
            rows.append(("unseen data", line + f" ({scores['count']:,} forecasts)"))
        return rows

    def _title(self) -> str:
        return f"drift.Model of '{self.name}'{f' ({self.unit})' if self.unit else ''}"

    def __repr__(self) -> str:
        return _html.text(self._title(), self._rows())

    def _repr_html_(self) -> str:
        return _html.table(self._title(), self._rows())


def _positions(name: str, values: Any) -> np.ndarray:
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype == np.float64:
        return values
    return _arrays.numbers(name, [values] if np.ndim(values) == 0 else values)
