"""The functions that take settings. Their keywords come from the library's list; _verbs.pyi is written from it when drift is built."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _arrays, _drift, _settings
from ._dataset import Dataset
from ._model import Model
from ._progress import Job, Progress


@_settings.documented("read")
def read(files: Any, value: Optional[str] = None, *, progress: Progress = False, **settings: Any) -> Dataset:
    """Reads observations from NetCDF or CSV files.

    Parameters
    ----------
    files : path, glob, or list of them
    value : str, optional
        Variable (column) with the values.
    progress : bool or callable
        Show a bar, or call ``progress(share, what)``.

    <settings>

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import drift
    >>> ds = drift.simulate(days=1, observations=500, bbox=(-20, 30, 20, 50))
    >>> ds.save("tracks.nc")
    >>> len(drift.read("tracks.nc")) == len(ds)
    True
    """
    chosen = _drift.Settings()
    chosen.set_files([os.fspath(files)] if isinstance(files, (str, os.PathLike)) else [os.fspath(file) for file in files])
    _settings.apply(chosen, "read", {**({} if value is None else {"value": value}), **settings})
    with Job("Reading", progress) as job:
        return Dataset._of(_drift.read(chosen, job))


def _settle(verb: str, dataset: Any, settings: Dict[str, Any]) -> _drift.Settings:
    if not isinstance(dataset, Dataset):
        raise _drift.UsageError(
            f"{verb} takes a drift.Dataset, not a {type(dataset).__name__}; drift.read, drift.Dataset.from_pandas and from_xarray make one"
        )
    return _settings.apply(_drift.Settings(dataset._data.settings), verb, settings)


@_settings.documented("fit")
def fit(dataset: Dataset, *, progress: Progress = False, checkpoint: Any = None, fresh: bool = False, **settings: Any) -> Model:
    """Fits a model to observations, as ``drift fit`` does: the same settings give the same model, to the bit.

    The GIL is released meanwhile. ctrl-C (KeyboardInterrupt) stops the fit within a second; with a checkpoint the
    same call resumes it. Choices are logged to ``drift`` at level INFO and kept in ``model.findings["fit"]["choices"]``.

    Parameters
    ----------
    dataset : Dataset
    progress : bool or callable
        Show a bar, or call ``progress(share, what)``.
    checkpoint : path, optional
        File for a stopped fit; default: beside the file of `out`, if that is given.
    fresh : bool
        Start afresh and ignore any checkpoint.

    <settings>

    Returns
    -------
    Model

    Examples
    --------
    >>> import drift
    >>> ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50))
    >>> model = drift.fit(ds, method="process")
    >>> field = model.predict(grid="bbox:-10,35,10,45:5")
    >>> field[model.name].shape
    (1, 2, 4)
    """
    chosen = _settle("fit", dataset, settings)
    with Job("Fitting", progress, checkpoint=os.fspath(checkpoint or ""), fresh=fresh) as job:
        return Model(*_drift.fit(dataset._data, chosen, job))


@_settings.documented("fit")
def plan(dataset: Dataset, **settings: Any) -> List[str]:
    """The choices that :func:`fit` would make, one sentence each, without fitting.

    Parameters
    ----------
    dataset : Dataset

    <settings>

    Returns
    -------
    list of str
    """
    chosen = _settle("fit", dataset, settings)
    with Job("Planning") as job:
        return list(_drift.plan(dataset._data, chosen, job))


@_settings.documented("compare")
def compare(
    dataset: Dataset,
    methods: Union[str, Sequence[str]] = (),
    *,
    folder: Any = None,
    progress: Progress = False,
    fresh: bool = False,
    **settings: Any,
) -> Any:
    """Fits methods to the same observations and scores them on the same held-out ones.

    All fits run in this process, one after the other; ``drift compare`` runs each in a separate process, so that peak memory
    is measured per fit there.

    Parameters
    ----------
    dataset : Dataset
    methods : str or list of str
        ``"drift"``, ``"nngp"``, ``"svgp:inducing=500"``, ...; ``"all"``; none: one of each family. :func:`methods` lists them.
    folder : path, optional
        Folder for fits, maps and tables, as the command keeps them; existing fits are not repeated.
    progress : bool or callable
        Show a bar, or call ``progress(share, what)``.
    fresh : bool
        Repeat fits that the folder already holds.

    <settings>

    Returns
    -------
    pandas.DataFrame
        A row per method: a column per measure (means over the seeds), its standard deviation between seeds as ``..._sd`` if there are
        several, and ``failure``. ``attrs`` holds how it was judged.
    """
    import pandas

    chosen = _settle("compare", dataset, settings)
    wanted = [methods] if isinstance(methods, str) else list(methods)
    if wanted:
        info = next(i for i in _drift.setting_infos() if i.table == "compare" and i.key == "methods")
        chosen.set(info, wanted, "methods")
    chosen.set_folder(os.fspath(folder or ""))
    with Job("Comparing", progress, fresh=fresh) as job:
        result = json.loads(_drift.compare(dataset._data, chosen, job))
    rows = []
    for method in result.pop("methods"):
        row: Dict[str, Any] = {"method": method["method"], "title": method["title"]}
        for name, measure in method["measures"].items():
            row[name] = measure["mean"]
            if method["seeds"] > 1:
                row[name + "_sd"] = measure["sd"]
        row["failure"] = method["failure"]
        rows.append(row)
    table = pandas.DataFrame(rows).set_index("method")
    table.attrs = result
    return table


def methods() -> Dict[str, str]:
    """The methods that can be fitted and compared, and a line on each.

    Examples
    --------
    >>> import drift
    >>> "nngp" in drift.methods()
    True
    """
    return {name: f"{title}: {summary}" for name, title, summary, _ in _drift.compare_methods()}


def load(path: Any) -> Model:
    """Reads a model that ``drift fit`` or :meth:`Model.save` wrote."""
    return Model(_drift.load(os.fspath(path)))


def simulate(
    truth: str = "synthetic",
    *,
    platforms: Sequence[str] = (),
    start: str = "2020-03-01",
    days: float = 9.0,
    bbox: Optional[Sequence[float]] = None,
    observations: Optional[int] = None,
    rate_hz: float = 1.0,
    noise_sd: float = 0.01,
    outlier_share: float = 0.0,
    outlier_sd: float = 1.0,
    seed: int = 1,
    threads: int = 0,
    progress: Progress = False,
) -> Dataset:
    """Observations of a known truth along the ground tracks of real missions, as ``drift simulate`` makes them.

    Parameters
    ----------
    truth : str
        ``synthetic[:SEED][,evolution=DAYS][,velocity=EAST:NORTH]``, ``geoid``, or a gridded file, ``FILE.nc[:VARIABLE]``.
    platforms : list of str
        Of Sentinel-3A, Sentinel-3B and CryoSat-2; none: all.
    start : str
        ISO 8601.
    days : float
    bbox : (lon0, lat0, lon1, lat1), optional
        Degrees; observations lie inside.
    observations : int, optional
        About so many, in place of `rate_hz`.
    rate_hz : float
        Observations per second.
    noise_sd, outlier_share, outlier_sd : float
        Noise of every observation, share of them with one more error, and that error's sd, in the truth's unit.
    seed : int
    threads : int
        0: one per core.
    progress : bool or callable

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import drift
    >>> ds = drift.simulate(days=1, observations=300, bbox=(-20, 30, 20, 50), seed=3)
    >>> ds.platform is not None and ds.track is not None
    True
    """
    start_days = float(_arrays.times("start", [start])[0][0])
    box = None if bbox is None else tuple(float(edge) for edge in bbox)
    with Job("Simulating", progress) as job:
        return Dataset._of(
            _drift.simulate(
                truth, list(platforms), start_days, float(days), box, observations, float(rate_hz), float(noise_sd),
                float(outlier_share), float(outlier_sd), seed, threads, job,
            )
        )  # fmt: skip


def score(observed: Any, mean: Any, sd: Any = None) -> Dict[str, Any]:
    """Scores of Gaussian forecasts of any origin, the lower the better for all but coverage.

    Parameters
    ----------
    observed, mean : array of numbers
    sd : array of numbers, optional
        Standard deviations of the forecasts of an observation.

    Returns
    -------
    dict
        ``rmse``, ``mae``, ``bias``; with `sd` also ``crps``, ``nll``, ``coverage90`` and so on.

    Examples
    --------
    >>> import drift
    >>> drift.score([1.0, 2.0], [1.0, 1.0])["mae"]
    0.5
    """
    columns = [_arrays.numbers("observed", observed), _arrays.numbers("mean", mean)]
    columns.append(np.empty(0) if sd is None else _arrays.numbers("sd", sd))
    return json.loads(_drift.score_forecast(*columns))
