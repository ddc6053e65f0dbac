"""A fitted model."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _checks, _drift, _html
from ._dataset import Dataset
from ._progress import Job, Progress

if TYPE_CHECKING:
    import xarray

_NO_TIMES = np.empty(0)
_AS_THEY_ARE = (np.dtype(np.float64), np.dtype(np.float32))  # positions that need no conversion


class Model:
    """A field fitted to observations: mean and standard deviations anywhere.

    Made by :func:`drift.fit` and :func:`drift.load`. A model does not change, so any number of threads may predict with it at
    once; it pickles and copies through its file form.

    Examples
    --------
    >>> import drift
    >>> model = drift.fit(drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50)), method="process")
    >>> model.name, model.findings["observations"] == model.findings["fit"]["training_observations"]
    ('synthetic', True)
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

    @_checks.typed
    def predict(
        self,
        grid: Any = None,
        time: Any = None,
        *,
        mask: Union[str, Sequence[str]] = "none",
        members: bool = False,
        gradient: bool = False,
        gradient_scale: Optional[float] = None,
        attributes: Optional[Mapping[str, str]] = None,
        backend: str = "auto",
        threads: int = 0,
        progress: Progress = False,
    ) -> "xarray.Dataset":
        """The field on a grid, as the command's map would open in xarray.

        Parameters
        ----------
        grid : str or xarray object, optional
            ``global:0.25``, ``bbox:LON0,LAT0,LON1,LAT1:STEP``, ``EPSG:6931:25km`` (over the observations),
            ``EPSG:6931:25km:XMIN,YMIN,XMAX,YMAX``, ``xy:X0,Y0,X1,Y1:STEP`` or a NetCDF file or an xarray Dataset or DataArray
            whose grid to take, south to north and west to east; chosen from the model if None.
        time : time or list of times, optional
            ISO 8601 texts, datetime64, pandas timestamps, or numbers if the model's times are such; ``"FROM/TO/STEP"``, the step
            in days; ``"daily"``, ``"hourly"``, ``"6-hourly"`` or ``"monthly"``: such times of the observation period. None: its middle.
        mask : str or list of str
            ``none``; ``ocean``: land is left empty; ``data:100km``: so is what lies farther from observations; ``ice.nc:conc>0.15``:
            where the nearest cell of a file does not meet the condition; ``ice.nc:conc``: where it has no value; ``shelf.geojson``:
            outside its polygons. Of several, what any of them leaves empty is empty.
        members : bool
            Every network of the ensemble too (every draw, of a variational or dropout model).
        gradient : bool
            The horizontal gradient too, and geostrophic currents of heights above the geoid or the mean sea level, with their
            standard deviations.
        gradient_scale : float, optional
            Distance over which gradients are taken, in km (or the unit of x and y); from the model's lengthscale if None. 0: the
            slope of the mean itself, without standard deviations. Goes with `gradient`.
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

        Warns
        -----
        UserWarning
            Times outside those of the observations, and points far from them: the field there is a guess. A gradient without
            geostrophic currents or standard deviations, with the reason.

        Examples
        --------
        >>> import drift
        >>> model = drift.load("model.safetensors")
        >>> field = model.predict("bbox:-10,35,10,45:5", ["2020-03-01T12:00", "2020-03-02"], gradient=True)
        >>> field["synthetic"].dims, field["synthetic_gradient_east"].shape
        (('time', 'latitude', 'longitude'), (2, 2, 4))
        """
        from . import _xarray

        days = self._map_times(time)
        if grid is not None and not isinstance(grid, (str, os.PathLike)):
            if not hasattr(grid, "coords"):
                raise _checks.refuse("grid", "a text such as 'global:0.25', a path or an xarray object", grid)
            grid = _xarray.grid(grid)
        else:
            grid = os.fspath(grid or "")
        if not isinstance(mask, str) and not (isinstance(mask, (list, tuple)) and all(isinstance(each, str) for each in mask)):
            raise _checks.refuse("mask", "a text or a list of texts", mask)
        masks = mask if isinstance(mask, str) else ",".join(mask)
        with Job("Predicting", progress, threads=threads) as job:
            variables, attrs, lacks, asked = _drift.predict_map(
                self._model, grid, days, masks, bool(members), bool(gradient), gradient_scale, _attributes(attributes), "drift (Python)", backend, job
            )
        self._warn_of(*asked, lacks=lacks)
        return _xarray.field(variables, attrs)

    @_checks.typed
    def predict_at(
        self,
        lon: Any,
        lat: Any = None,
        time: Any = None,
        *,
        members: bool = False,
        gradient: bool = False,
        gradient_scale: Optional[float] = None,
        backend: str = "auto",
        threads: int = 0,
        progress: Progress = False,
    ) -> Any:
        """The field at points.

        Parameters
        ----------
        lon, lat : array of numbers
            Degrees, or x and y, of any shape; NaN gives NaN. Contiguous arrays, both float64 or both float32, are read in place.
            xarray DataArrays are broadcast by their dimensions. Or, as the only argument, a pandas DataFrame with such columns.
        time : array of times, or one time for all, optional
            As of :meth:`predict`; none where the model has no time; NaT gives NaN.
        members, gradient, gradient_scale, backend, threads, progress
            As of :meth:`predict`.

        Returns
        -------
        dict of numpy.ndarray
            By name, as the variables of a map: ``X``, ``X_uncertainty``, ``X_total_uncertainty``, ...; float64, one entry per point,
            in the positions' shape (``X_members``: [members, ...]). For a DataFrame, a DataFrame with its index; for DataArrays, a
            Dataset with their coordinates.

        Warns
        -----
        UserWarning
            As :meth:`predict`.

        Examples
        --------
        >>> import drift
        >>> model = drift.load("model.safetensors")
        >>> at = model.predict_at([0.0, 5.0], [40.0, 42.0], "2020-03-02")
        >>> bool((at["synthetic_total_uncertainty"] >= at["synthetic_uncertainty"]).all())
        True
        """
        if lat is None and hasattr(lon, "columns"):
            return self._predict_frame(
                lon, time, members=members, gradient=gradient, gradient_scale=gradient_scale, backend=backend, threads=threads, progress=progress
            )
        if lat is None:
            raise _drift.UsageError("predict_at needs lon and lat, or a DataFrame")
        if hasattr(lon, "dims") or hasattr(lat, "dims"):
            from . import _xarray

            lon, lat, time, made = _xarray.flat_positions(lon, lat, time)
        elif np.ndim(lon) > 1 or np.ndim(lat) > 1:
            lon, lat, time, made = _flat_positions(lon, lat, time)
        else:
            made = _by_name
        x, y = _positions("lon", lon), _positions("lat", lat)
        t = self._point_times(time)
        with Job("Predicting", progress, threads=threads) as job:
            layers, lacks, asked = _drift.predict_at(self._model, x, y, t, bool(members), bool(gradient), gradient_scale, backend, job)
        self._warn_of(*asked, lacks=lacks)
        return made(layers)

    def _predict_frame(self, frame: Any, time: Any, **options: Any) -> Any:
        import pandas

        on_plane, names = self._model.on_plane, [str(name) for name in frame.columns]
        # The table's value, sigma and so on are not asked for: only where and when.
        given = {role: "-" for role in ("sigma", "track", "platform")}
        asked = names + ["value"] if "value" not in names else names
        found, _ = _drift.roles_of_columns(asked, {**given, "value": "value"}, [])
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
        if isinstance(time, str):
            return _drift.map_times(self._model, time)
        days = self._days(time)
        if len(days) == 0 or not np.all(np.diff(days) > 0) or np.isnan(days).any():
            raise _drift.UsageError("time: times must be in ascending order, without repeats")
        return [float(day) for day in days]

    def _point_times(self, time: Any) -> np.ndarray:
        if time is None:
            return _NO_TIMES
        if type(time) is np.ndarray and time.ndim == 1 and time.dtype == np.float64:
            return time
        return self._days(time)

    def _warn_of(self, points: int, far: int, distance: float, unreached: int, days_outside: float, lacks: Sequence[str] = ()) -> None:
        """Where and when the field is a guess, and what there is none of: a warning each, as the command prints them."""
        for lack in lacks:
            _checks.warn(lack)
        if unreached > 0:
            points_lie = "1 point lies" if unreached == 1 else f"{unreached:,} points lie"
            _checks.warn(f"{points_lie} beyond the reach of the model's projection: no value there")
        if days_outside != 0.0:
            which = "before the first" if days_outside < 0 else "after the last"
            _checks.warn(f"a time lies {abs(days_outside):.3g} days {which} observation: the field there is a guess")
        if far > 0:
            unit = self._model.length_unit
            _checks.warn(f"{far:,} of {points:,} points lie more than {distance:.3g} {unit} from any observation: the field there is a guess")

    @_checks.typed
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

        Examples
        --------
        >>> import drift
        >>> model = drift.load("model.safetensors")
        >>> others = drift.simulate(days=2, observations=200, bbox=(-20, 30, 10, 50), platforms=["CryoSat-2"], seed=5)
        >>> sorted(model.score(others)["groups"])
        ['CryoSat-2']
        """
        seen = _checks.dataset("score: the observations", observations)
        with Job("Scoring", progress, threads=threads) as job:
            rows, warnings = _drift.score(self._model, seen, by, backend, job)
        self._warn_of(*warnings)
        out: Dict[str, Any] = json.loads(rows[0][1])
        out["trained_share"] = rows[0][2]
        out["groups"] = {name: json.loads(text) for name, text, _ in rows[1:]}
        return out

    # Files

    def save(self, path: Any) -> None:
        """Writes the model as ``drift fit`` does: a safetensors file that the command and :func:`drift.load` read.

        Examples
        --------
        >>> import drift
        >>> model = drift.load("model.safetensors")
        >>> model.save("copy.safetensors")
        >>> drift.verify("copy.safetensors")["kind"]
        'model'
        """
        self._model.save(_checks.path("path", path))

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
            line += f" ({scores['count']:,} forecasts)"
            if scores.get("scores_also_calibrated"):
                rows.append(("calibration data", line + ": optimistic, as these observations also calibrated"))
            else:
                rows.append(("out of fold" if scores.get("out_of_fold") else "unseen data", line))
        return rows

    def _title(self) -> str:
        return f"drift.Model of '{self.name}'{f' ({self.unit})' if self.unit else ''}"

    def __repr__(self) -> str:
        return _html.text(self._title(), self._rows())

    def _repr_html_(self) -> str:
        return _html.table(self._title(), self._rows())


def _positions(name: str, values: Any) -> np.ndarray:
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype in _AS_THEY_ARE:
        return values
    return _arrays.numbers(name, [values] if _arrays.is_one(values) else values)


# Results by name, with their attributes, as the module has them.
_Layers = List[Tuple[str, np.ndarray, Dict[str, str]]]


def _by_name(layers: _Layers) -> Dict[str, np.ndarray]:
    return {name: values for name, values, _ in layers}


def _flat_positions(lon: Any, lat: Any, time: Any) -> Tuple[Any, Any, Any, Callable[[_Layers], Any]]:
    """Positions of any shape as columns, and what gives results that shape."""
    given = {"lon": lon, "lat": lat, **({} if time is None or _arrays.is_one(time) else {"time": time})}
    columns = [_arrays.entries(name, values) for name, values in given.items()]
    try:
        columns = np.broadcast_arrays(*columns)
    except ValueError:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise _drift.UsageError(f"positions and times have the shapes {shapes}, which do not fit together") from None
    shape = columns[0].shape
    flat = [column.ravel() for column in columns]

    def made(layers: _Layers) -> Dict[str, np.ndarray]:
        return {name: values.reshape(values.shape[:-1] + shape) for name, values, _ in layers}

    return flat[0], flat[1], flat[2] if len(flat) > 2 else time, made


def _attributes(given: Any) -> Dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for entry in given.items() for text in entry):
        raise _checks.refuse("attributes", "a dictionary of texts", given)
    return dict(given)
