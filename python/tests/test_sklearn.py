"""drift.sklearn.DriftRegressor by scikit-learn's own rules."""

import importlib.util
import inspect
import pickle
import types
import warnings

import numpy as np
import pytest

import drift

sklearn = pytest.importorskip("sklearn")

import sklearn.utils.validation as validation  # noqa: E402
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


def test_weights_count_in_the_linear_effect_of_covariates(wave):
    """Against the weighted least squares that they stand for, and by what wrong observations of no weight to speak of do to it."""
    X, y = wave
    rng = np.random.default_rng(2)
    depth = rng.normal(size=(400, 2))
    wrong = rng.uniform(size=400) < 0.3
    seen = y + depth @ [3.0, -1.0] + np.where(wrong, -20.0 * depth[:, 0], 0.0)
    weight = np.where(wrong, 1e-6, 2.0)
    model = DriftRegressor(method="process").fit(np.hstack([X, depth]), seen, sample_weight=weight)
    A = np.column_stack([depth, np.ones(400)])
    want = np.linalg.solve(A.T @ (weight[:, None] * A), A.T @ (weight * seen))
    np.testing.assert_allclose(model.coef_, want[:2], rtol=1e-9)
    assert np.abs(model.coef_ - [3.0, -1.0]).max() < 0.2
    plain = DriftRegressor(method="process").fit(np.hstack([X, depth]), seen)
    assert abs(plain.coef_[0] - 3.0) > 1.0


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


def newer_module(name):
    """drift.sklearn as it would be imported with what a test has put into scikit-learn meanwhile."""
    spec = importlib.util.spec_from_file_location(name, drift.sklearn.__file__)
    newer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(newer)
    return newer


def test_newer_versions_of_scikit_learn_validate_by_a_function(monkeypatch, wave):
    """From 1.6 on; on older ones a stand-in for it, by the method that it replaced."""
    usual = getattr(validation, "validate_data", None) or BaseEstimator._validate_data
    heard = []

    def validate_data(estimator, *args, **options):
        heard.append(sorted(options))
        return usual(estimator, *args, **options)

    monkeypatch.setattr(validation, "validate_data", validate_data, raising=False)
    newer = newer_module("drift.sklearn_of_newer")
    X, y = wave
    want = DriftRegressor(method="process").fit(X, y).predict(X[:5])
    np.testing.assert_array_equal(newer.DriftRegressor(method="process").fit(X, y).predict(X[:5]), want)
    assert heard == [["dtype", "y_numeric"], ["dtype", "reset"]]


def test_newer_versions_of_scikit_learn_check_weights_under_other_keywords(monkeypatch, wave):
    """In newer ones only_non_negative is ensure_non_negative, and weights that are all zero are refused there."""
    usual = validation._check_sample_weight

    def check(sample_weight, X, *, dtype=None, force_float_dtype=True, ensure_non_negative=False, ensure_same_device=True, copy=False, allow_all_zero_weights=False):
        assert not ensure_non_negative  # its name differs, so it is not used
        checked = usual(sample_weight, X, dtype=dtype, copy=copy)
        if not allow_all_zero_weights and np.all(checked == 0):
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return checked

    monkeypatch.setattr(validation, "_check_sample_weight", check)
    X, y = wave
    weight = 1.0 + np.arange(len(y)) % 3
    want = DriftRegressor(method="process").fit(X, y, sample_weight=weight).predict(X[:5])
    for regressor in (newer_module("drift.sklearn_of_newer_weights").DriftRegressor, DriftRegressor):
        np.testing.assert_array_equal(regressor(method="process").fit(X, y, sample_weight=weight).predict(X[:5]), want)
        weight[7] = -2.0
        with pytest.raises(ValueError, match="sample_weight is -2 in row 7; it must be 0 or more"):
            regressor(method="process").fit(X, y, sample_weight=weight)
        weight[7] = 1.0 + 7 % 3
        with pytest.raises(ValueError, match="(weight.*zero)|(zero.*weight)"):  # check_all_zero_sample_weights_error
            regressor(method="process").fit(X, y, sample_weight=np.zeros(len(y)))


def test_newer_versions_of_scikit_learn_get_tags_of_a_regressor(monkeypatch):
    """Their base classes answer __sklearn_tags__, cooperatively: these do as they do since 1.6, where the installed ones do not."""
    base = pytest.importorskip("sklearn.base")
    if not hasattr(base.BaseEstimator, "__sklearn_tags__"):

        class NewBase(base.BaseEstimator):
            def __sklearn_tags__(self):
                target = types.SimpleNamespace(required=False, one_d_labels=False, two_d_labels=False, positive_only=False, multi_output=False, single_output=True)
                inputs = types.SimpleNamespace(one_d_array=False, two_d_array=True, sparse=False, positive_only=False, allow_nan=False, pairwise=False)
                return types.SimpleNamespace(
                    estimator_type=None, target_tags=target, input_tags=inputs, transformer_tags=None, classifier_tags=None, regressor_tags=None,
                    array_api_support=False, no_validation=False, non_deterministic=False, requires_fit=True, _skip_test=False,
                )  # fmt: skip

        class NewMixin(base.RegressorMixin):
            def __sklearn_tags__(self):
                tags = super().__sklearn_tags__()
                tags.estimator_type = "regressor"
                tags.regressor_tags = types.SimpleNamespace(poor_score=False)
                tags.target_tags.required = True
                return tags

        monkeypatch.setattr(base, "BaseEstimator", NewBase)
        monkeypatch.setattr(base, "RegressorMixin", NewMixin)
    tags = newer_module("drift.sklearn_of_newer_tags").DriftRegressor().__sklearn_tags__()
    assert tags.estimator_type == "regressor" and tags.target_tags.required and not tags.regressor_tags.poor_score
    assert not tags.input_tags.sparse and not tags.input_tags.allow_nan and not tags.target_tags.multi_output
    assert tags.requires_fit and not tags.no_validation and not tags.non_deterministic
    # What these tags promise holds: check_estimator_sparse_tag, check_mixin_order, check_do_not_raise_errors_in_init_or_set_params.
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="[Ss]parse"):
        DriftRegressor().fit(scipy_sparse.csr_matrix(np.eye(20)), np.arange(20.0))
    assert [c.__name__ for c in DriftRegressor.__mro__].index("RegressorMixin") < [c.__name__ for c in DriftRegressor.__mro__].index("BaseEstimator")
    for value in (-1, 3.0, "helloworld", np.array([1.0, 4.0]), [1], {}, []):
        parameters = {name: value for name in inspect.signature(DriftRegressor).parameters}
        DriftRegressor(**parameters).set_params(**parameters)


@pytest.mark.filterwarnings("ignore:there are fewer than 200")
@pytest.mark.parametrize("settings", [{}, {"method": "process"}])
def test_a_weight_of_two_is_two_observations_as_newer_checks_have_it(settings):
    """check_sample_weight_equivalence_on_dense_data of 1.6 and newer: fifteen observations of thirty columns, weights from 0 to 4."""
    rng = np.random.RandomState(42)
    X, y, weight = rng.rand(15, 30), rng.randint(0, 3, size=15), rng.randint(0, 5, size=15)
    repeated = DriftRegressor(**settings).fit(X.repeat(weight, axis=0), y.repeat(weight))
    order = rng.permutation(15)
    weighted = DriftRegressor(**settings).fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7, atol=1e-9)
