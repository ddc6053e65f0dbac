"""Small data, and models of them that take a second or two."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import drift

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A network as small as it can be and still learn something; the process alone is quicker yet.
SMALL = {"method": "network", "members": 3, "layers": 2, "features": 64, "bottleneck": 8, "epochs": 3}


def _refuse_to_skip(report):
    """Where every test must run, as in continuous integration, a skipped one has failed."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("DRIFT_ALL_PYTHON_TESTS"):
        report.outcome, report.longrepr = "failed", f"skipped, although DRIFT_ALL_PYTHON_TESTS is set: {report.longrepr[2]}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    _refuse_to_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    _refuse_to_skip(outcome.get_result())


@pytest.fixture(scope="session")
def small():
    return dict(SMALL)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def ds():
    """Tracks of two satellites over the North Atlantic for three days."""
    return drift.simulate(days=3, observations=400, bbox=(-30, 30, 10, 60), platforms=["Sentinel-3A", "CryoSat-2"], seed=2)


@pytest.fixture(scope="session")
def model(ds):
    return drift.fit(ds, method="process")


@pytest.fixture(scope="session")
def networks(ds):
    return drift.fit(ds, **SMALL)


@pytest.fixture(scope="session")
def blend(ds):
    return drift.fit(ds, **{**SMALL, "method": "blend", "members": 5})


@pytest.fixture(scope="session")
def points(ds):
    """Some hundred positions and times inside the data."""
    rng = np.random.default_rng(5)
    lon, lat = rng.uniform(-28, 8, 200), rng.uniform(32, 58, 200)
    return lon, lat, np.datetime64("2020-03-01") + rng.integers(0, 3 * 86400, 200).astype("timedelta64[s]")


@pytest.fixture(scope="session")
def command():
    """Runs drift's command; skips where it is not built."""
    path = os.environ.get("DRIFT_COMMAND", "")
    if not os.path.exists(path):
        pytest.skip("DRIFT_COMMAND does not name the command drift")

    def run(*arguments, cwd=None):
        words = [path, *(str(argument) for argument in arguments)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=cwd)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run
