"""Fitting: the command's settings, checks, files and bits."""

import copy
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import drift
from drift import _drift, _settings


def flags(settings):
    return [word for name, value in settings.items() for word in ("--" + name.replace("_", "-"), value)]


def test_a_model_tells_scores_settings_and_findings(ds, model, networks, small):
    for fitted in (model, networks):
        assert set(fitted.scores) >= {"rmse", "crps", "coverage90", "count"}
        assert 0 < fitted.scores["rmse"] < 2 * np.std(ds.value)
        assert fitted.findings["observations"] > 0 and fitted.findings["noise_sd"] > 0
        assert all(isinstance(choice, str) for choice in fitted.findings["fit"]["choices"])
        assert 0 < fitted.findings["fit"]["baseline"]["model_rmse"]
        assert 0 < fitted.findings["fit"]["baseline"]["rmse"]
        assert all(isinstance(warning, str) for warning in fitted.findings["fit"]["warnings"])
    assert networks.settings["model"]["members"] == small["members"]
    assert networks.settings["fit"]["method"] == "network"
    assert networks.findings["members"] == small["members"]
    process = model.findings["process"]
    assert process["lengthscale_x"] > 0 and process["time_lengthscale_days"] > 0 and "velocity_x_per_day" in process


@pytest.mark.parametrize("settings", [{"method": "process"}, "small", "default", {"method": "nngp:neighbours=16", "seed": 7}])
def test_the_same_settings_give_the_same_bits_as_the_command(ds, command, small, settings, tmp_path):
    if settings == "default":  # the blend, of small networks
        settings = {**{name: value for name, value in small.items() if name != "method"}, "members": 5}
    settings = small if settings == "small" else settings
    ds.save(tmp_path / "tracks.nc")
    command("fit", "tracks.nc", *flags(settings), "--out", "model.safetensors", "--quiet", cwd=tmp_path)
    theirs = (tmp_path / "model.safetensors").read_bytes()
    os.remove(tmp_path / "model.safetensors")
    here = os.getcwd()
    os.chdir(tmp_path)  # paths are among a model's settings
    try:
        drift.fit(drift.read("tracks.nc"), out="model.safetensors", **settings)
    finally:
        os.chdir(here)
    assert (tmp_path / "model.safetensors").read_bytes() == theirs
    if settings.get("members") == 5:
        assert drift.load(tmp_path / "model.safetensors").findings["method"] == "blend"


def test_a_file_that_the_command_wrote_is_loaded_and_predicts_the_commands_numbers(ds, command, small, points, tmp_path):
    import pandas as pd

    ds.save(tmp_path / "tracks.nc")
    command("fit", "tracks.nc", *flags(small), "--out", "theirs.safetensors", "--quiet", cwd=tmp_path)
    lon, lat, when = points
    pd.DataFrame({"lon": lon, "lat": lat, "time": np.datetime_as_string(when, unit="s")}).to_csv(tmp_path / "points.csv", index=False)
    command("predict", "theirs.safetensors", "--at", "points.csv", "--out", "out.csv", "--quiet", cwd=tmp_path)
    model, theirs = drift.load(tmp_path / "theirs.safetensors"), pd.read_csv(tmp_path / "out.csv")
    assert model.settings["model"]["members"] == small["members"] and model.scores["rmse"] > 0
    for name, values in model.predict_at(lon, lat, when).items():
        np.testing.assert_allclose(theirs[name], values, rtol=1e-6, atol=1e-6)  # a table has six or seven digits


def test_verify_tells_a_whole_file_from_a_damaged_one(networks, tmp_path):
    path = tmp_path / "model.safetensors"
    networks.save(path)
    whole = drift.verify(path)
    assert whole["kind"] == "model" and whole["checksums"] is True and whole["facts"]
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(drift.Error, match="model.safetensors"):
        drift.verify(path)


def test_model_files_go_both_ways(ds, networks, command, points, tmp_path):
    networks.save(tmp_path / "ours.safetensors")
    import pandas as pd

    lon, lat, when = points
    pd.DataFrame({"lon": lon, "lat": lat, "time": np.datetime_as_string(when, unit="s")}).to_csv(tmp_path / "points.csv", index=False)
    command("predict", "ours.safetensors", "--at", "points.csv", "--out", "out.csv", "--quiet", cwd=tmp_path)
    theirs, ours = pd.read_csv(tmp_path / "out.csv"), networks.predict_at(lon, lat, when)
    for name, values in ours.items():
        np.testing.assert_allclose(theirs[name], values, rtol=1e-6, atol=1e-6)  # a table has six or seven digits; maps have all
    again = drift.load(tmp_path / "ours.safetensors")
    assert again.scores == networks.scores and again.settings == networks.settings
    for name, values in again.predict_at(lon, lat, when).items():
        np.testing.assert_array_equal(values, ours[name])


def test_models_pickle_and_copy(networks, points):
    want = networks.predict_at(*points)
    for other in (pickle.loads(pickle.dumps(networks)), copy.copy(networks), copy.deepcopy(networks)):
        assert other.findings == networks.findings
        for name, values in other.predict_at(*points).items():
            np.testing.assert_array_equal(values, want[name])


def test_repr_tells_what_a_person_wants_to_know(ds, blend):
    for text in (repr(blend), blend._repr_html_()):
        for part in (ds.name, "networks and a process", "5 members", "RMSE", "2020-03-01", "observations"):
            assert part in text


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"member": 3}, r"fit has no setting 'member'; did you mean 'members'\?"),
        ({"members": 0}, "members 0: must be"),
        ({"members": 2.5}, "members 2.5: must be a whole number"),
        ({"members": "many"}, "members many: must be a number"),
        ({"members": [1, 2]}, r"members takes one value, not \[1, 2\] \(list\)"),
        ({"members": True}, r"members cannot be True \(bool\)"),
        ({"loss": "hubber"}, "loss.*hubber.*huber"),
        ({"method": "nngq"}, "nngq.*nngp"),
        ({"lengthscale": float("nan")}, "lengthscale"),
        ({"covariance": "Matern"}, "covariance Matern: must be one of .*; did you mean 'matern'"),
        ({"value": "sla"}, "fit has no setting 'value'"),
    ],
)
def test_wrong_settings_get_one_clear_exception(ds, settings, sentence):
    with pytest.raises(drift.UsageError, match=sentence):
        drift.fit(ds, **settings)


def test_wrong_kinds_of_data_get_one_clear_exception(ds):
    with pytest.raises(drift.UsageError, match="fit: the dataset must be a drift.Dataset, not a dict"):
        drift.fit({"lon": [1.0]})
    few = drift.Dataset([0.0, 1.0], [40.0, 41.0], [1.0, 2.0])
    with pytest.raises(drift.Error, match="observations"):
        drift.fit(few, method="process")


def test_every_setting_is_a_keyword_that_help_describes():
    text = pydoc.render_doc(drift.fit)
    settings = _settings.of_verb("fit")
    assert len(settings) > 40
    listed = {info.flag for verb in ("read", "fit", "compare") for info in _settings.of_verb(verb).values()}
    assert listed >= {info.flag for info in _drift.setting_infos() if info.flag} - {"--folder"}
    parameters = inspect.signature(drift.fit).parameters
    for name, info in settings.items():
        assert name in parameters
        row = f"{name} : {_settings.type_text(info)}, default: {_settings.default_text(info)} {_settings.help_text(info)}."
        assert " ".join(row.split()) in " ".join(text.split())
    assert "members : int, default: chosen from the data and the other settings" in text
    assert "batch : int" in text and "checkpoint_every_s : float, default: 300" in text


def test_help_names_the_unit_of_every_setting_that_has_one():
    """Those of a time, a length, a position or a value; the others are counts, shares, rates and words."""
    units = {"_s": "second", "_days": "days", "_sd": "unit", "lengthscale": "km", "block": "km", "delta": "SDs", "bbox": "degrees", "valid": "unit"}
    checked = set()
    for verb in ("read", "fit", "compare"):
        for name, info in _settings.of_verb(verb).items():
            ending = next((e for e in units if name.endswith(e)), None)
            if name == "hidden_lengthscale":  # a number of square roots of a width
                continue
            if ending is not None and info.type in ("number", "range", "box"):
                assert units[ending] in _settings.help_text(info).lower() or units[ending] in info.help, name
                checked.add(name)
    assert len(checked) > 10
    assert "--" not in _settings.help_text(_settings.of_verb("fit")["dropout"])


def test_a_plan_is_the_choices_of_a_fit(ds, model):
    assert drift.plan(ds, method="process") == model.findings["fit"]["choices"]


def test_progress_goes_from_nothing_to_all(ds, small):
    heard = []
    drift.fit(ds, progress=lambda share, what: heard.append((share, what)), **small)
    shares = [share for share, _ in heard]
    assert shares and shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1
    assert all(isinstance(what, str) for _, what in heard)


def test_a_bar_is_shown_with_and_without_tqdm(ds, small, capfd, monkeypatch):
    drift.fit(ds, **{**small, "epochs": 30}, progress=True)
    assert "Fitting" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    drift.fit(ds, **{**small, "epochs": 30}, progress=True)
    assert "Fitting" in capfd.readouterr().err


@pytest.fixture(scope="module")
def many():
    """As many observations as take the library a part of a second."""
    rng = np.random.default_rng(1)
    n = 1_000_000
    return drift.Dataset(rng.uniform(-20, 20, n), rng.uniform(30, 50, n), rng.normal(size=n), platform=rng.integers(0, 2, n))


LONG_CALLS = {
    "fit": lambda c: drift.fit(c["ds"], **{**c["small"], "epochs": 30}),
    "score": lambda c: drift.score(c["many"].value, c["many"].lat, c["many"].lon + 21.0),
    "repr": lambda c: repr(c["many"]),
    "with_test": lambda c: c["many"].with_test(c["many"]),
    "with_test_platforms": lambda c: c["many"].with_test_platforms("1"),
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_the_interpreter_runs_on_meanwhile(ds, small, many, name):
    """The longest that another thread waited is a small part of the call."""
    at, ready, done = [], threading.Event(), threading.Event()

    def tick():
        while not done.wait(0.002):
            at.append(time.monotonic())
            ready.set()

    clock = threading.Thread(target=tick)
    clock.start()
    ready.wait()
    begin = time.monotonic()
    LONG_CALLS[name]({"ds": ds, "small": small, "many": many})
    end = time.monotonic()
    done.set()
    clock.join()
    ticks = [t for t in at if begin < t < end]
    waits = np.diff([begin, *ticks, end])
    assert max(waits) < 0.5 * (end - begin), f"{max(waits):.3f} of {end - begin:.3f} s"


def test_importing_is_quick():
    """drift itself, not the libraries that wait until they are needed; in time of the processor, since the machine may be busy."""
    script = "import numpy, time; t = time.process_time(); import drift; print(time.process_time() - t)"
    script += "; import sys; assert 'pandas' not in sys.modules and 'xarray' not in sys.modules and 'sklearn' not in sys.modules"
    took = min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    assert took < 0.3
