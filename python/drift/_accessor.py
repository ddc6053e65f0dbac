"""``field.drift``: what drift adds to an xarray Dataset."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import textwrap
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import xarray

from . import _arrays, _checks, _drift, _html
from ._dataset import Dataset
from ._progress import Job


class Picture:
    """A figure that GMT drew; a notebook shows it."""

    def __init__(self, png: bytes, report: Dict[str, Any]) -> None:
        self.png = png
        self.report = report

    def save(self, path: Any) -> None:
        """Writes the PNG."""
        with open(_checks.path("path", path), "wb") as file:
            file.write(self.png)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<drift picture of '{self.report['variable']}', {self.report['projection']}, {len(self.png):,} bytes>"


@xarray.register_dataset_accessor("drift")
class FieldAccessor:
    """Of a field that :meth:`drift.Model.predict` made, or a map of the command's that xarray opened."""

    def __init__(self, field: xarray.Dataset) -> None:
        self._field = field

    @property
    def variable(self) -> str:
        """The mean: the variable that the others qualify, or the only one."""
        named = [str(n) for n, v in self._field.data_vars.items() if "ancillary_variables" in v.attrs]
        if not named:
            fields = {str(n): v for n, v in self._field.data_vars.items() if v.ndim >= 2 and "grid_mapping_name" not in v.attrs}
            named = [name for name in fields if not name.endswith("_bounds")]
        if not named:
            raise _drift.UsageError("the dataset has no variable on a grid")
        return named[0]

    @_checks.typed
    def plot(
        self,
        out: Any = None,
        *,
        variable: Optional[str] = None,
        time: Any = None,
        panels: str = "auto",
        observations: Optional[Dataset] = None,
        observations_days: float = 1.0,
        limits: Optional[Sequence[float]] = None,
        sd_limits: Optional[Sequence[float]] = None,
        colours: str = "",
        sd_colours: str = "",
        arrows: bool = False,
        histogram: bool = False,
        title: str = "",
        width_cm: Optional[float] = None,
        dpi: Optional[int] = None,
        frames_per_second: float = 4.0,
        separate: bool = False,
        ax: Any = None,
    ) -> Any:
        """Draws one time of the field, or several.

        matplotlib and cartopy draw the mean at one time on an Axes. With `out`, several times, without cartopy, or with any of the
        options that only GMT has, GMT draws a figure as ``drift plot`` does: mean and standard deviation side by side, several
        times as panels or an animation.

        Parameters
        ----------
        out : path, optional
            A PNG, PDF or SVG to write, or an animation, GIF or MP4.
        variable : str, optional
            None: the mean.
        time : time or int, or a list of them, or "all", optional
            Of the field's times, or their indices; None: the first, of an animation all. Several take GMT.
        panels : {'auto', 'mean', 'sd', 'both'}
            GMT only: what to draw; auto: both, if there is a standard deviation.
        observations : Dataset, optional
            Drawn over the mean in its colours, if no further than `observations_days` from the map's time.
        limits, sd_limits : (low, high), optional
            Of the colours of the mean, and (GMT only) of the standard deviation.
        colours, sd_colours : str
            Colour maps of the mean, and (GMT only) of the standard deviation: GMT's names, or matplotlib's for an Axes.
        arrows, histogram : bool
            GMT only: currents over the mean, and a histogram above the colours.
        title : str
        width_cm : float, optional
            GMT only: of all panels together, 4 to 100; chosen by the number of panels if not given.
        dpi : int, optional
            GMT only: dots per inch, default 300, of an animation fewer.
        frames_per_second : float
            Of an animation.
        separate : bool
            GMT only: mean and standard deviation as two pictures, `out` and the same name with ``_sd`` before the extension.
        ax : matplotlib Axes, optional
            Of a cartopy projection, or plain.

        Returns
        -------
        matplotlib Axes, or a picture that a notebook shows; None with `out`

        Examples
        --------
        >>> import drift
        >>> field = drift.load("model.safetensors").predict("bbox:-20,35,0,45:1", "2020-03-02")
        >>> ax = field.drift.plot(limits=(-1, 1))
        >>> ax.get_title()
        '2020-03-02'
        """
        seen = None if observations is None else _checks.dataset("plot: the observations", observations)
        several = isinstance(time, (list, tuple, np.ndarray)) or (isinstance(time, str) and time == "all")
        gmt = {"several times": several or None, "panels": panels if panels != "auto" else None, "sd_limits": sd_limits,
               "sd_colours": sd_colours or None, "arrows": arrows or None, "histogram": histogram or None,
               "width_cm": width_cm, "dpi": dpi, "separate": separate or None}  # fmt: skip
        only_gmt = [name for name, given in gmt.items() if given is not None]
        if ax is not None and (out is not None or only_gmt):
            raise _drift.UsageError(f"{'out' if out is not None else only_gmt[0]} is for the figures that GMT draws; leave it or ax out")
        if ax is not None or (out is None and not only_gmt and _has_cartopy()):
            return self._draw_axes(ax, variable, time, limits, colours, title, observations, observations_days)
        options: Dict[str, Any] = {
            "variable": variable or "", "time": self._time_text(time), "panels": panels, "limits": _pair("limits", limits),
            "sd_limits": _pair("sd_limits", sd_limits), "colours": colours, "sd_colours": sd_colours, "title": title,
            "width_cm": float(width_cm or 0.0), "dpi": int(dpi or 0), "observations": seen,
            "observations_days": float(observations_days), "arrows": bool(arrows), "histogram": bool(histogram),
            "frames_per_second": float(frames_per_second),
        }  # fmt: skip
        if separate:
            if out is None or panels not in ("auto", "both"):
                raise _drift.UsageError("separate draws mean and sd as two files: give out, and leave panels out")
            path = _checks.path("out", out)
            stem, extension = os.path.splitext(path)
            self._gmt(path, {**options, "panels": "mean"})
            self._gmt(stem + "_sd" + extension, {**options, "panels": "sd"})
            return None
        if out is not None:
            self._gmt(_checks.path("out", out), options)
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "map.png")
            report = self._gmt(path, options)
            with open(path, "rb") as file:
                return Picture(file.read(), report)

    def _gmt(self, picture: str, options: Dict[str, Any]) -> Dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder, Job("Drawing") as job:
            path = os.path.join(folder, "map.nc")
            self._field.to_netcdf(path)
            return _drift.plot(path, picture, job=job, **options)

    def _time_text(self, time: Any) -> str:
        if time is None:
            return ""
        if isinstance(time, str) and time == "all":
            return time
        if isinstance(time, (list, tuple, np.ndarray)) and np.ndim(time) == 1:
            return ",".join(self._time_text(one) for one in time)
        if isinstance(time, (int, np.integer)):
            return str(int(time))
        days, is_calendar = _arrays.times("time", time)
        return _drift.iso_time(float(days[0])) if is_calendar else repr(float(days[0]))

    def _at_time(self, name: str, time: Any) -> xarray.DataArray:
        array = self._field[name]
        if "time" in array.coords and "time" not in array.dims:  # the only time of a projected map
            array = array.expand_dims("time")
        if "time" in array.dims:
            if time is None or isinstance(time, (int, np.integer)):
                array = array.isel(time=int(time or 0))
            else:  # a text by itself would choose a whole day
                days, is_calendar = _arrays.times("time", time)
                wanted = _arrays.as_datetime(days) if is_calendar else days
                if wanted is None or wanted[0] not in array["time"].values:
                    raise _drift.UsageError(f"time: the field has none at {time}")
                array = array.sel(time=wanted[0])
        return array

    def _draw_axes(self, ax: Any, variable: Optional[str], time: Any, limits: Any, colours: str, title: str, observations: Any, days: float) -> Any:
        import matplotlib.pyplot as plt

        name = variable or self.variable
        array = self._at_time(name, time)
        if array.ndim != 2:
            raise _drift.UsageError(f"'{name}' has the dimensions {array.dims}; give a variable on a grid")
        y, x = (array[d] for d in array.dims)
        degrees = x.attrs.get("units") == "degrees_east"
        mapping = self._field.variables.get(array.attrs.get("grid_mapping", ""))
        projected = mapping is not None and mapping.attrs.get("grid_mapping_name") != "latitude_longitude"
        lon, lat = (array["longitude"], array["latitude"]) if projected else (x, y)
        options: Dict[str, Any] = {}
        if projected or degrees:
            import cartopy.crs as ccrs

            options["transform"] = ccrs.PlateCarree()
            if ax is None:
                ax = plt.figure(figsize=(7, 5.5)).add_subplot(projection=_projection(lon.values, lat.values))
        elif ax is None:
            ax = plt.figure(figsize=(7, 5.5)).add_subplot()
        low, high = _pair("limits", limits) or _limits(array.values)
        signed = low < 0 < high and not name.endswith("uncertainty")
        colours = colours or ("RdBu_r" if signed else "viridis")
        options.update(vmin=low, vmax=high, cmap=colours)
        if projected:  # by positions: those outside the projection have none
            known = np.isfinite(lon.values) & np.isfinite(lat.values)
            mesh = ax.pcolormesh(np.where(known, lon, 0.0), np.where(known, lat, 90.0), np.where(known, array, np.nan), shading="nearest", **options)
        else:
            mesh = ax.pcolormesh(lon, lat, array.values, shading="nearest", **options)
        if observations is not None:
            near = _near(observations, array, days)
            ax.scatter(observations.lon[near], observations.lat[near], c=observations.value[near], s=9, edgecolors="0.2", linewidths=0.3, **options)
        if hasattr(ax, "projection"):
            lons, lats = (lon.values, lat.values) if projected else np.meshgrid(lon.values, lat.values)
            _frame(ax, lons, lats, array.values)
        unit = array.attrs.get("units", "")
        label = array.attrs.get("long_name", name) + (f" ({unit})" if unit not in ("", "1") else "")
        ax.figure.colorbar(mesh, ax=ax, orientation="horizontal", shrink=0.75, pad=0.06, extend="both", label=textwrap.fill(label, 40))
        if not title and "time" in array.coords and array["time"].dtype.kind == "M":
            title = str(np.datetime_as_string(array["time"].values, unit="m")).replace("T00:00", "")
        ax.set_title(title)
        return ax

    def _rows(self) -> List[Tuple[str, str]]:
        mean = self._field[self.variable]
        rows = [("mean", f"{np.nanmean(mean):.4g}, from {np.nanmin(mean):.4g} to {np.nanmax(mean):.4g} {mean.attrs.get('units', '')}")]
        sd = self.variable + "_uncertainty"
        if sd in self._field:
            rows.append(("sd", f"{np.nanmean(self._field[sd]):.4g} on average, of the field"))
        rows.append(("grid", " by ".join(f"{mean.sizes[d]} {d}" for d in mean.dims)))
        # A grid mapping has no dimensions until Dataset.where gives it those of its condition.
        layers = (str(n) for n, v in self._field.data_vars.items() if v.ndim > 0 and "grid_mapping_name" not in v.attrs)
        rows.append(("variables", ", ".join(name for name in layers if not name.endswith("_bounds"))))
        return rows

    def _described(self) -> Tuple[str, List[Tuple[str, str]]]:
        try:
            return f"drift field '{self.variable}'", self._rows()
        except _drift.UsageError as error:  # every Dataset of xarray has this accessor
            return f"no drift field: {error}", []

    def __repr__(self) -> str:
        return _html.text(*self._described())

    def _repr_html_(self) -> str:
        return _html.table(*self._described())


def _has_cartopy() -> bool:
    import importlib.util

    return all(importlib.util.find_spec(name) is not None for name in ("cartopy", "matplotlib"))


def _pair(name: str, limits: Optional[Sequence[float]]) -> Optional[Tuple[float, float]]:
    if limits is None:
        return None
    low, high = _checks.some_numbers(name, 2, limits)
    return low, high


def _near(observations: Dataset, array: xarray.DataArray, days: float) -> Any:
    """Which observations are within so many days of the map's time: all where either has none."""
    times = observations.time
    if times is None or times.dtype.kind != "M" or "time" not in array.coords or array["time"].dtype.kind != "M":
        return slice(None)
    return np.abs(times - array["time"].values) <= np.timedelta64(round(86400e3 * days), "ms")


def _limits(values: np.ndarray) -> Tuple[float, float]:
    """The middle 99 % of the values, about zero if they are of both signs."""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return 0.0, 1.0
    low, high = (float(edge) for edge in np.quantile(known, [0.005, 0.995]))
    if low < 0.0 < high:
        high = max(-low, high)
        low = -high
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def _projection(lon: Any, lat: Any) -> Any:
    """A round map about a pole, an oval one of the globe, else a map about the middle."""
    import cartopy.crs as ccrs

    south, north = float(np.nanmin(lat)), float(np.nanmax(lat))
    if south > 45.0:
        return ccrs.NorthPolarStereo()
    if north < -45.0:
        return ccrs.SouthPolarStereo()
    west, east = float(np.nanmin(lon)), float(np.nanmax(lon))
    if east - west > 180.0:
        return ccrs.EqualEarth(0.5 * (west + east))
    return ccrs.PlateCarree(0.5 * (west + east)) if abs(south + north) < 60.0 else ccrs.LambertAzimuthalEqualArea(0.5 * (west + east), 0.5 * (south + north))


def _frame(ax: Any, lon: np.ndarray, lat: np.ndarray, values: np.ndarray) -> None:
    """Coastlines and meridians, and the axes' limits about the cells that have a value.

    The coastlines are GSHHG's, through GMT, as the command's figures have them: cartopy would download its own. None without GMT.
    """
    import cartopy.crs as ccrs
    from cartopy.mpl.ticker import LongitudeLocator

    known = np.isfinite(values) & np.isfinite(lon)
    lon, lat = (lon[known], lat[known]) if known.any() else (lon.ravel(), lat.ravel())
    is_wide = float(np.ptp(lon)) > 180.0 or float(np.abs(lat).max()) > 85.0
    box = (-180.0, 180.0) if is_wide else (float(lon.min()) - 15.0, float(lon.max()) + 15.0)
    south, north = max(-90.0, float(lat.min()) - 10.0), min(90.0, float(lat.max()) + 10.0)
    for line in _shores(round(box[0]), round(box[1]), round(south), round(north)):
        ax.plot(line[:, 0], line[:, 1], color="0.25", linewidth=0.5, transform=ccrs.PlateCarree())
    is_polar = isinstance(ax.projection, ccrs.Stereographic)
    if not isinstance(ax.projection, ccrs.EqualEarth):
        places = ax.projection.transform_points(ccrs.PlateCarree(), lon, lat)
        for place, limit in ((places[:, 0], ax.set_xlim), (places[:, 1], ax.set_ylim)):
            limit(float(np.nanmin(place)), float(np.nanmax(place)))
    lines = ax.gridlines(draw_labels=not is_polar, linewidth=0.3, color="0.5", alpha=0.6)
    lines.top_labels = lines.right_labels = False
    if not is_wide:
        lines.xlocator = LongitudeLocator(nbins=4)  # whose labels do not meet


@functools.lru_cache(maxsize=8)
def _shores(west: float, east: float, south: float, north: float) -> Tuple[np.ndarray, ...]:
    if shutil.which("gmt") is None:
        return ()
    box = f"{west}/{east}/{south}/{north}"
    with tempfile.TemporaryDirectory() as folder:  # GMT leaves files of its own where it runs
        run = subprocess.run(["gmt", "coast", f"-R{box}", "-Dl", "-A500/0/1", "-W", "-M"], cwd=folder, capture_output=True, text=True)
    lines: List[List[Tuple[float, float]]] = []
    for row in run.stdout.splitlines():
        if row.startswith(">"):
            lines.append([])
        elif row and not row.startswith("#") and lines:
            x, y = row.split()[:2]
            lines[-1].append((float(x), float(y)))
    return tuple(np.array(line) for line in lines if len(line) > 1)
