"""drift as a scikit-learn regressor.

>>> import numpy as np
>>> from drift.sklearn import DriftRegressor
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(0, 10, (300, 2))
>>> y = np.sin(X[:, 0]) + np.cos(X[:, 1]) + rng.normal(0, 0.1, 300)
>>> model = DriftRegressor(method="process").fit(X, y)
>>> mean, sd = model.predict(X[:5], return_std=True)
>>> mean.shape, sd.shape
((5,), (5,))
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _checks, _drift, _keywords, _settings
from ._dataset import Dataset
from ._model import Model
from ._verbs import fit as _fit

try:  # scikit-learn 1.6 and newer
    from sklearn.utils.validation import _check_sample_weight, validate_data
except ImportError:
    from sklearn.utils.validation import _check_sample_weight

    def validate_data(estimator: Any, *args: Any, **options: Any) -> Any:
        return estimator._validate_data(*args, **options)


# The library makes no field of fewer than 100 observations, those held out aside.
_FEWEST = 200

_SETTINGS = list(_settings.of_verb("DriftRegressor"))
_OWN = {"coordinates": "auto"}

# Sample weights say how errors compare, not how large they are. That of an observation of the mean weight is taken for a tenth of
# the values' sd, and what the data show beyond it is found as noise.
_SIGMA = 0.1


class DriftRegressor(RegressorMixin, BaseEstimator):
    """A field of position and time by drift, and of any other columns linearly.

    The first columns of X are coordinates; those after them are covariates, whose linear effect is fitted by least squares, with
    the weights if there are any, before drift models the rest (kriging with external drift, by regression).

    Parameters
    ----------
    coordinates : {'auto', 'lonlat', 'lonlat+time', 'xy', 'xy+time', 'x'}
        Meaning of the first columns: longitude and latitude in degrees, or x and y of a plane, followed by time in days, or x alone.
        'auto': ``xy``, with one column ``x``.

    <settings>

    Attributes
    ----------
    model_ : drift.Model
        None where there were fewer than 200 observations, or all were equal.
    small_ : sklearn.gaussian_process.GaussianProcessRegressor
        Used instead: an exact Gaussian process, Matérn 3/2 and noise. Otherwise None.
    coef_, intercept_ : numpy.ndarray, float
        Of the covariates' linear effect.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray
        Of a DataFrame.

    Warns
    -----
    UserWarning
        Settings that were given and are not used, since there were fewer than 200 observations or all were equal.

    Notes
    -----
    ``sample_weight`` are inverse variances up to a factor: an observation of weight w has sigma proportional to 1/sqrt(w); one of
    weight 0 is left out. Observations are cross-validated inside a fit in blocks; pass tracks as ``groups`` to scikit-learn's own
    ``GroupKFold``, as neighbours on a track are correlated.
    """

    def __init__(self, **parameters: Any) -> None:
        for name in (*_OWN, *_SETTINGS):
            setattr(self, name, parameters.pop(name, _OWN.get(name)))
        if parameters:
            name = next(iter(parameters))
            hint = _drift.did_you_mean(name, [*_OWN, *_SETTINGS])
            raise TypeError(f"DriftRegressor has no parameter '{name}'{hint}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, track: Any = None) -> "DriftRegressor":
        """Fits the field.

        Parameters
        ----------
        X : array [n, columns]
            Coordinates, then covariates.
        y : array [n]
            Values.
        sample_weight : array [n], optional
            Inverse variances of the values' errors, up to a factor.
        track : array [n], optional
            The pass of each observation: whole tracks are then cross-validated together, and share an error.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from drift.sklearn import DriftRegressor
        >>> rng = np.random.default_rng(0)
        >>> X, depth = rng.uniform(0, 10, (300, 2)), rng.uniform(0, 1, 300)
        >>> y = np.sin(X[:, 0]) + 2 * depth
        >>> model = DriftRegressor(method="process").fit(np.column_stack([X, depth]), y, sample_weight=np.full(300, 4.0))
        >>> bool(abs(model.coef_[0] - 2) < 0.5)
        True
        """
        settings = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        _keywords.apply(_drift.Settings(), "DriftRegressor", settings)  # wrong ones are refused however few observations there are
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        sigma: Optional[np.ndarray] = None
        weight: Optional[np.ndarray] = None
        if sample_weight is not None:
            weight = _checked_weight(sample_weight, X)
            used = weight > 0
            if not used.any():
                raise ValueError("sample_weight: every weight is zero")
            X, y, weight = X[used], y[used], weight[used]
            track = None if track is None else np.asarray(track)[used]
            if np.ptp(weight) > 0:
                sigma = np.sqrt(weight.mean() / weight)
        space, has_time = self._kind(X.shape[1])
        self._space, self._columns = space, len(space) + has_time
        covariates = X[:, self._columns :]
        self._fit_covariates(covariates, y, weight)
        rest = y - self._trend(covariates)
        self.model_: Optional[Model] = None
        self.small_: Any = None
        is_few = len(rest) < _FEWEST
        if is_few or np.ptp(rest) <= 1e-12 * max(1.0, float(np.abs(rest).max())):
            if settings:
                why = f"there are fewer than {_FEWEST} observations" if is_few else "all values are equal"
                _checks.warn(f"{why}, so scikit-learn's Gaussian process is fitted; not used: {', '.join(settings)}")
            self.small_ = self._fit_small(X, rest, sigma)
            return self
        scale = None if sigma is None else _SIGMA * rest.std() * sigma
        try:
            data = Dataset(**self._positions(X), value=rest, sigma=scale, track=track, name="y", on_plane=space != "ll")
            self.model_ = _fit(data, checkpoint=False, **settings)  # no later call has the same dataset
        except _drift.UsageError:
            raise
        except _drift.Error as error:
            raise ValueError(str(error)) from error
        return self

    def predict(self, X: Any, return_std: bool = False, *, noise: bool = False) -> Any:
        """The field at points.

        Parameters
        ----------
        X : array [n, columns]
        return_std : bool
            Also standard deviations: of the field, or with `noise` of a new observation.
        noise : bool

        Returns
        -------
        mean : numpy.ndarray [n]
        sd : numpy.ndarray [n]
            With `return_std` only.

        Examples
        --------
        >>> import numpy as np
        >>> from drift.sklearn import DriftRegressor
        >>> X = np.random.default_rng(0).uniform(0, 10, (300, 2))
        >>> model = DriftRegressor(method="process").fit(X, np.sin(X[:, 0]))
        >>> mean, sd = model.predict([[2.0, 3.0]], return_std=True)
        >>> _, of_an_observation = model.predict([[2.0, 3.0]], return_std=True, noise=True)
        >>> bool(of_an_observation[0] >= sd[0])
        True
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        trend = self._trend(X[:, self._columns :])
        if self.model_ is None:
            mean, sd = self.small_.predict(self._small_rows(X), return_std=True)
            if not noise:
                sd = np.sqrt(np.maximum(sd**2 - self._small_noise, 0.0))
        else:
            at = self._positions(X)
            out = self.model_.predict_at(at["lon"], at["lat"], at.get("time"), threads=self.threads or 0)
            mean = out["y"].astype(np.float64)
            name = "y_total_uncertainty" if noise else "y_uncertainty"
            sd = out[name].astype(np.float64) if name in out else np.full(len(X), np.nan)
        return (mean + trend, sd) if return_std else mean + trend

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_columns")

    def _kind(self, columns: int) -> Tuple[str, bool]:
        kinds = {"lonlat": ("ll", False), "lonlat+time": ("ll", True), "xy": ("xy", False), "xy+time": ("xy", True), "x": ("x", False)}
        chosen = self.coordinates if self.coordinates != "auto" else ("x" if columns == 1 else "xy")
        if chosen not in kinds:
            raise ValueError(f"coordinates is '{chosen}'; it must be one of auto, {', '.join(kinds)}")
        space, has_time = kinds[chosen]
        if columns < len(space) + has_time:
            raise ValueError(f"X has {columns} columns; coordinates='{chosen}' takes the first {len(space) + has_time}")
        return space, has_time

    def _positions(self, X: np.ndarray) -> Dict[str, Any]:
        out: Dict[str, Any] = {"lon": np.ascontiguousarray(X[:, 0])}
        out["lat"] = np.zeros(len(X)) if self._space == "x" else np.ascontiguousarray(X[:, 1])
        if self._columns > len(self._space):
            out["time"] = np.ascontiguousarray(X[:, self._columns - 1])
        return out

    def _fit_covariates(self, covariates: np.ndarray, y: np.ndarray, weight: Optional[np.ndarray]) -> None:
        self.coef_, self.intercept_ = np.zeros(covariates.shape[1]), 0.0
        if covariates.shape[1] == 0 or len(y) < 2:
            return
        centre = np.average(covariates, axis=0, weights=weight)
        root = np.ones(len(y)) if weight is None else np.sqrt(weight / weight.max())  # largest 1, whatever their factor
        self.coef_ = np.linalg.lstsq(root[:, None] * (covariates - centre), root * (y - np.average(y, weights=weight)), rcond=None)[0]
        self.intercept_ = float(-centre @ self.coef_)

    def _trend(self, covariates: np.ndarray) -> np.ndarray:
        return covariates @ self.coef_ + self.intercept_

    def _small_rows(self, X: np.ndarray) -> np.ndarray:
        """Coordinates among which distances mean something: unit vectors on the Earth."""
        if self._space != "ll":
            return X[:, : self._columns]
        lon, lat = np.radians(X[:, 0]), np.radians(X[:, 1])
        return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat), X[:, 2 : self._columns]])

    def _fit_small(self, X: np.ndarray, values: np.ndarray, sigma: Optional[np.ndarray]) -> Any:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        rows = self._small_rows(X)
        lengths = rows.std(axis=0)
        lengths[lengths == 0.0] = 1.0
        bounds = np.column_stack([1e-2 * lengths, 1e2 * lengths])
        kernel = ConstantKernel() * Matern(lengths, bounds, nu=1.5) + WhiteKernel(0.1, (1e-6, 10.0))
        errors = 1e-10 if sigma is None else (_SIGMA * sigma) ** 2
        small = GaussianProcessRegressor(kernel, alpha=errors, normalize_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a length at its bound is no news to the caller
            small.fit(rows, values)
        spread = float(values.std())
        self._small_noise = float(small.kernel_.k2.noise_level) * (spread**2 if spread > 0.0 else 1.0)
        return small


def _checked_weight(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Finite, one per row and none negative: scikit-learn's keyword for the last has another name from release to release."""
    weight = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weight < 0).any():
        row = int((weight < 0).argmax())
        raise ValueError(f"sample_weight is {weight[row]:g} in row {row}; it must be 0 or more")
    return weight


def _sign_initialiser() -> None:
    """scikit-learn reads parameters off the signature; the docstring gets their descriptions."""
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    own += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in _OWN.items()]
    own += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _SETTINGS]
    DriftRegressor.__init__.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    if DriftRegressor.__doc__:
        DriftRegressor.__doc__ = DriftRegressor.__doc__.replace("    <settings>", _settings.describe("DriftRegressor"))


_sign_initialiser()
