"""Fitting: the command's settings, checks, files and bits."""

import copy
import inspect
import os
import pickle
import pydoc
import re
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
    "predict": lambda c: c["large"].predict("bbox:-20,40,0,50:0.1", "2020-03-02"),
    "predict_at": lambda c: c["large"].predict_at(np.linspace(-20, 0, 20_000), np.full(20_000, 45.0), "2020-03-02"),
    "save": lambda c: c["large"].save(c["folder"] / "again.safetensors"),
    "load": lambda c: drift.load(c["folder"] / "large.safetensors"),
    "pickle": lambda c: pickle.dumps(c["large"]),
    "score": lambda c: drift.score(c["many"].value, c["many"].lat, c["many"].lon + 21.0),
    "repr": lambda c: repr(c["many"]),
    "with_test": lambda c: c["many"].with_test(c["many"]),
    "with_test_platforms": lambda c: c["many"].with_test_platforms("1"),
}


@pytest.fixture(scope="module")
def large(ds, tmp_path_factory):
    """A model whose file takes a part of a second to write and to read, and its folder."""
    folder = tmp_path_factory.mktemp("large")
    model = drift.fit(ds, method="network", members=8, layers=3, features=2048, bottleneck=256, epochs=0.01, uncertainty="ensemble")
    model.save(folder / "large.safetensors")
    assert (folder / "large.safetensors").stat().st_size > 30e6
    return model, folder


@pytest.mark.parametrize("name", LONG_CALLS)
def test_the_interpreter_runs_on_meanwhile(ds, small, many, large, name):
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
    LONG_CALLS[name]({"ds": ds, "small": small, "many": many, "large": large[0], "folder": large[1]})
    end = time.monotonic()
    done.set()
    clock.join()
    ticks = [t for t in at if begin < t < end]
    waits = np.diff([begin, *ticks, end])
    assert max(waits) < 0.5 * (end - begin), f"{max(waits):.3f} of {end - begin:.3f} s"


def test_importing_waits_with_other_libraries_until_they_are_needed():
    """How long it takes, python/benchmarks/overhead.py measures."""
    script = "import drift, sys; print(*sorted({'pandas', 'xarray', 'sklearn', 'matplotlib', 'tqdm', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"


NO_FILES = """
import os, resource, sys
import numpy, pandas, xarray  # what other libraries do while they are imported is theirs
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # whoever writes a byte into a file fails
opened = []
sys.addaudithook(lambda event, of: opened.append(of[0]) if event == "open" and of[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else None)
import drift
small = {small!r}
rng = numpy.random.default_rng(1)
lon, lat = rng.uniform(-20, 20, 400), rng.uniform(30, 50, 400)
time = numpy.datetime64("2020-03-01") + rng.integers(0, 3 * 86400, 400).astype("timedelta64[s]")
ds = drift.Dataset(lon, lat, numpy.sin(lon / 4), time, name="wave", track=numpy.arange(400) // 20)
table = drift.Dataset.from_pandas(ds.to_pandas(), value="wave")
along = xarray.Dataset({{"wave": ("n", ds.value)}}, coords={{"lon": ("n", ds.lon), "lat": ("n", ds.lat), "time": ("n", ds.time)}})
drift.Dataset.from_xarray(along)
for settings in ({{**small, "method": "blend", "members": 5}}, small, {{"method": "process"}}):
    model = drift.fit(table, progress=True, **settings)
    field = model.predict("bbox:-10,35,10,45:2", "2020-03-02", gradient=True)
    at = model.predict_at(lon, lat, time)
    model.score(table), repr(model), repr(field.drift), drift.plan(ds, **settings)
drift.compare(ds, ["nngp:neighbours=8"], seeds=1)
assert opened == [], opened
try:
    ds.save("wave.nc")
    print("the guard guards nothing")
except drift.Error:
    print("no file was written")
"""


def test_from_arrays_to_predictions_no_file_is_touched(small, tmp_path):
    """Nor could one be: the folder of temporary files does not exist, that of the program is read-only, and files may not grow."""
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", NO_FILES.format(small=small)], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stdout == "no file was written\n", done.stderr
    assert list(folder.iterdir()) == [] and not (tmp_path / "none").exists()


def test_the_keywords_are_the_flags_of_the_command(command):
    """Those of fit and compare, less what reads the observations, which read takes; and what is an argument of its own."""
    own = {"fit": set(), "compare": {"--method", "--folder"}}
    of_read = {info.flag for info in _settings.of_verb("read").values()} - {"--threads"}
    settings = {info.flag for info in _drift.setting_infos()}
    for verb, arguments in own.items():
        flags = set(re.findall(r"^ +(--[a-z0-9-]+)", command(verb, "--help"), re.MULTILINE)) & settings
        assert len(flags) > 40 and of_read <= flags
        assert {info.flag for info in _settings.of_verb(verb).values()} == flags - of_read - arguments
    assert {info.flag for info in _settings.of_verb("DriftRegressor").values()} < {info.flag for info in _settings.of_verb("fit").values()}
