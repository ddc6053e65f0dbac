"""drift.sklearn.DriftRegressor by scikit-learn's own rules."""

import pickle
import warnings

import numpy as np
import pytest

import drift

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from drift.sklearn import DriftRegressor  # noqa: E402


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (400, 2))
    return X, np.sin(X[:, 0]) + np.cos(X[:, 1]) + rng.normal(0, 0.05, 400)


# None is expected to fail. Their data are small, so that the setting is not used.
@pytest.mark.filterwarnings("ignore:there are fewer than 200")
@parametrize_with_checks([DriftRegressor(), DriftRegressor(method="process")])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_drift_itself_passes_checks_on_data_that_are_large_enough(wave):
    """Those checks take data of their own size, so they are repeated here: on 400 observations drift fits, never its stand-in."""
    X, y = wave
    small = {"members": 2, "features": 32, "layers": 1, "epochs": 2}
    for settings in ({"method": "process"}, {"method": "network", **small}, small):
        whole = DriftRegressor(**settings).fit(X, y)
        assert whole.model_ is not None and whole.small_ is None
        names = set(vars(whole))
        np.testing.assert_array_equal(whole.predict(X[:50]), np.concatenate([whole.predict(X[:20]), whole.predict(X[20:50])]))  # check_methods_subset_invariance
        again = clone(whole).fit(X.copy(), list(y))  # check_fit_idempotent, check_regressors_int's containers
        np.testing.assert_array_equal(again.predict(X), whole.predict(X))
        assert set(vars(whole)) == names  # check_dict_unchanged
        back = pickle.loads(pickle.dumps(whole))  # check_estimators_pickle
        np.testing.assert_array_equal(back.predict(X), whole.predict(X))
        for wrong in (np.nan, np.inf):  # check_estimators_nan_inf
            broken = X.copy()
            broken[3, 1] = wrong
            with pytest.raises(ValueError):
                whole.predict(broken)
            with pytest.raises(ValueError):
                clone(whole).fit(broken, y)
        with pytest.raises(ValueError):  # check_n_features_in_after_fitting
            whole.predict(X[:, :1])


def test_mean_and_standard_deviation(wave):
    X, y = wave
    model = DriftRegressor(method="process").fit(X, y)
    rng = np.random.default_rng(1)
    there = rng.uniform(0, 10, (2000, 2))
    new = np.sin(there[:, 0]) + np.cos(there[:, 1]) + rng.normal(0, 0.05, 2000)
    mean, sd = model.predict(there, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(there))
    _, total = model.predict(there, return_std=True, noise=True)
    assert (total >= sd).all() and (sd > 0).all()
    # Nine of ten at least within what should hold 95 of 100: one sample of the data has a noise that is a few per cent off.
    assert 0.9 < np.mean(np.abs(new - mean) < 1.96 * total) < 0.99
    assert model.score(there, new) > 0.95


def test_weights_are_inverse_variances(wave):
    X, y = wave
    rng = np.random.default_rng(1)
    noise = np.where(rng.uniform(size=400) < 0.5, 0.05, 1.0)
    noisy = y + noise * rng.normal(size=400)
    truth = np.sin(X[:, 0]) + np.cos(X[:, 1])
    plain = DriftRegressor(method="process").fit(X, noisy)
    weighted = DriftRegressor(method="process").fit(X, noisy, sample_weight=noise**-2.0)
    assert np.mean((weighted.predict(X) - truth) ** 2) < np.mean((plain.predict(X) - truth) ** 2)


def test_columns_behind_the_coordinates_have_a_linear_effect(wave):
    X, y = wave
    depth = np.random.default_rng(2).normal(size=(400, 1))
    model = DriftRegressor(method="process").fit(np.hstack([X, depth]), y + 3.0 * depth[:, 0])
    assert abs(model.coef_[0] - 3.0) < 0.2


def test_positions_on_the_earth_and_times(ds):
    days = (ds.time - np.datetime64("2020-03-01")) / np.timedelta64(1, "D")
    X = np.column_stack([ds.lon, ds.lat, days])
    model = DriftRegressor(coordinates="lonlat+time", method="process").fit(X, ds.value, track=ds.track)
    assert model.model_.findings["domain"] in ("sphere", "plane") and model.score(X, ds.value) > 0.5


def test_pipelines_grid_searches_and_tracks_as_groups(ds):
    X, y = np.column_stack([ds.lon, ds.lat]), ds.value
    scores = cross_val_score(DriftRegressor(coordinates="lonlat", method="process"), X, y, groups=ds.track, cv=GroupKFold(3))
    assert len(scores) == 3 and np.isfinite(scores).all()
    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(), DriftRegressor(method="process"))
    search = GridSearchCV(pipeline, {"driftregressor__method": ["process", "nngp:neighbours=16"]}, cv=2).fit(X, y)
    assert search.best_params_["driftregressor__method"] in ("process", "nngp:neighbours=16")
    assert clone(search.best_estimator_).get_params()["driftregressor__method"] == search.best_params_["driftregressor__method"]


def test_wrong_parameters_get_one_clear_exception(wave):
    X, y = wave
    with pytest.raises(TypeError, match="no parameter 'member'; did you mean 'members'"):
        DriftRegressor(member=3)
    with pytest.raises(ValueError, match="coordinates is 'polar'"):
        DriftRegressor(coordinates="polar").fit(X, y)
    with pytest.raises(ValueError, match="takes the first 3"):
        DriftRegressor(coordinates="xy+time").fit(X, y)
    for few in (len(y), 30):
        with pytest.raises(drift.UsageError, match="members"):
            DriftRegressor(members=0).fit(X[:few], y[:few])
        with pytest.raises(drift.UsageError, match="nonsense"):
            DriftRegressor(method="nonsense").fit(X[:few], y[:few])


def test_settings_that_are_not_used_are_named(wave):
    X, y = wave
    with pytest.warns(UserWarning, match="fewer than 200 observations, so scikit-learn's Gaussian process is fitted; not used: method, members") as heard:
        assert DriftRegressor(members=3, method="network").fit(X[:30], y[:30]).small_ is not None
    assert heard[0].filename == __file__
    with pytest.warns(UserWarning, match="all values are equal"):
        DriftRegressor(method="process").fit(X, np.ones(len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DriftRegressor().fit(X[:30], y[:30])
        DriftRegressor(method="process").fit(X, y)


def test_newer_versions_of_scikit_learn_validate_by_a_function(monkeypatch, wave):
    """From 1.6 on; on older ones a stand-in for it, by the method that it replaced."""
    import importlib.util

    import sklearn.utils.validation as validation

    usual = getattr(validation, "validate_data", None) or BaseEstimator._validate_data
    heard = []

    def validate_data(estimator, *args, **options):
        heard.append(sorted(options))
        return usual(estimator, *args, **options)

    monkeypatch.setattr(validation, "validate_data", validate_data, raising=False)
    spec = importlib.util.spec_from_file_location("drift.sklearn_of_newer", drift.sklearn.__file__)
    newer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(newer)
    X, y = wave
    want = DriftRegressor(method="process").fit(X, y).predict(X[:5])
    np.testing.assert_array_equal(newer.DriftRegressor(method="process").fit(X, y).predict(X[:5]), want)
    assert heard == [["dtype", "y_numeric"], ["dtype", "reset"]]
