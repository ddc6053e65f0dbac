"""The functions that take settings. Their keywords come from the library's list; _verbs.pyi is written from it when drift is built."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _checks, _drift, _keywords, _session, _settings
from ._dataset import Dataset
from ._model import Model
from ._progress import Job, Progress


@_checks.typed
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
    listed = files if _checks.is_listing(files) else [files]
    chosen.set_files([_checks.path("files", file) for file in listed])
    _keywords.apply(chosen, "read", {**({} if value is None else {"value": value}), **settings})
    with Job("Reading", progress) as job:
        return Dataset._of(_drift.read(chosen, job))


def _settle(verb: str, dataset: Any, settings: Dict[str, Any]) -> Tuple[_drift.Dataset, _drift.Settings]:
    seen = _checks.dataset(f"{verb}: the dataset", dataset)
    return seen, _keywords.apply(_drift.Settings(seen.settings), verb, settings)


@_checks.typed
@_settings.documented("fit")
def fit(dataset: Dataset, *, progress: Progress = False, checkpoint: Any = None, fresh: bool = False, **settings: Any) -> Model:
    """Fits a model to observations, as ``drift fit`` does: the same settings give the same model, to the bit.

    The GIL is released meanwhile. ctrl-C (KeyboardInterrupt) stops the fit within a second; the same call resumes the training of
    networks. Choices are logged to ``drift`` at level INFO and kept in ``model.findings["fit"]["choices"]``.

    Parameters
    ----------
    dataset : Dataset
    progress : bool or callable
        Show a bar, or call ``progress(share, what)``.
    checkpoint : path or False, optional
        File for a stopped fit; False: none. Default: beside the file of `out`, if that is given, else a temporary one that lasts as
        long as this Python session.
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
    seen, chosen = _settle("fit", dataset, settings)
    of_session = checkpoint is None and not settings.get("out")
    if of_session:
        kept = _session.checkpoint(dataset._number, chosen.to_toml())
    else:
        kept = "" if checkpoint is None or checkpoint is False else _checks.path("checkpoint", checkpoint)
    try:
        with Job("Fitting", progress, checkpoint=kept, fresh=bool(fresh)) as job:
            model = Model(*_drift.fit(seen, chosen, job))
    except KeyboardInterrupt:
        if of_session and os.path.exists(kept):
            raise KeyboardInterrupt(_session.STOPPED) from None
        raise
    if of_session and os.path.exists(kept):
        os.unlink(kept)
    return model


@_checks.typed
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

    Examples
    --------
    >>> import drift
    >>> ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50))
    >>> any("5 networks" in choice for choice in drift.plan(ds, members=5))
    True
    """
    seen, chosen = _settle("fit", dataset, settings)
    with Job("Planning") as job:
        return list(_drift.plan(seen, chosen, job))


@_checks.typed
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

    Examples
    --------
    >>> import drift
    >>> ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50))
    >>> table = drift.compare(ds, ["nngp:neighbours=8", "exact"], seeds=1)
    >>> list(table.index), bool((table["rmse"] > 0).all())
    (['nngp:neighbours=8', 'exact'], True)
    """
    import pandas

    seen, chosen = _settle("compare", dataset, settings)
    wanted = _checks.texts("methods", methods)
    if wanted:
        info = next(i for i in _drift.setting_infos() if i.table == "compare" and i.key == "methods")
        chosen.set(info, wanted, "methods")
    chosen.set_folder("" if folder is None else _checks.path("folder", folder))
    with Job("Comparing", progress, fresh=bool(fresh)) as job:
        result = json.loads(_drift.compare(seen, chosen, job))
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
    """Reads a model that ``drift fit`` or :meth:`Model.save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model

    Examples
    --------
    >>> import drift
    >>> model = drift.load("model.safetensors")
    >>> model.scores["rmse"] < 1.0
    True
    """
    return Model(_drift.load(_checks.path("path", path)))


def verify(path: Any) -> Dict[str, Any]:
    """Checks that a file that drift wrote is whole, as ``drift verify`` does: every length, range and checksum.

    Parameters
    ----------
    path : path
        A model, checkpoint, study, map, file of simulated observations or run file.

    Returns
    -------
    dict
        ``kind``; ``checksums``, whether its numbers have any; ``facts``, what it holds: as ``drift verify --json`` prints them.

    Raises
    ------
    drift.Error
        The file is damaged, or none of drift's.

    Examples
    --------
    >>> import drift
    >>> drift.simulate(days=1, observations=500, bbox=(-20, 30, 20, 50)).save("tracks.nc")
    >>> drift.verify("tracks.nc")["kind"]
    'observations'
    """
    kind, has_checksums, facts = _drift.verify(_checks.path("path", path))
    return {"kind": kind, "checksums": has_checksums, "facts": dict(facts)}


_USUAL = _drift.simulate_defaults()


@_checks.typed
def simulate(
    truth: str = "synthetic",
    *,
    platforms: Union[str, Sequence[str]] = tuple(_USUAL["platforms"]),
    start: Any = _USUAL["start"],
    days: float = _USUAL["days"],
    bbox: Optional[Sequence[float]] = None,
    observations: Optional[int] = None,
    rate_hz: float = _USUAL["rate_hz"],
    noise_sd: float = _USUAL["noise_sd"],
    outlier_share: float = _USUAL["outlier_share"],
    outlier_sd: float = _USUAL["outlier_sd"],
    seed: int = _USUAL["seed"],
    threads: int = 0,
    progress: Progress = False,
) -> Dataset:
    """Observations of a known truth along the ground tracks of real missions, as ``drift simulate`` makes them.

    Parameters
    ----------
    truth : str
        ``synthetic[:SEED][,evolution=DAYS][,velocity=EAST:NORTH]``, ``geoid``, or a gridded file, ``FILE.nc[:VARIABLE]``.
    platforms : list of str
        Of Sentinel-3A, Sentinel-3B and CryoSat-2.
    start : time
        The first observation's.
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
    start_days = float(_arrays.times("start", start)[0][0])
    box = None if bbox is None else _checks.some_numbers("bbox", 4, bbox)
    carried = _checks.texts("platforms", platforms)
    with Job("Simulating", progress) as job:
        return Dataset._of(
            _drift.simulate(
                truth, carried, start_days, float(days), box, observations, float(rate_hz), float(noise_sd),
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
    scores: Dict[str, Any] = json.loads(_drift.score_forecast(*columns))
    return scores
