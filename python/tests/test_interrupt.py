"""ctrl-C and exceptions of callbacks: what stops, what is kept, what is said. No clocks: each stop comes from a progress report."""

import copy
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import drift
from drift import _session

LONG = 400  # epochs: many reports of progress before the networks are trained
AT = ([0.0, -10.0], [40.0, 50.0], "2020-03-02")


class CtrlC:
    """A progress callback that presses ctrl-C once, at the first report past this share."""

    def __init__(self, share=0.0):
        self.share, self.pressed = share, False

    def __call__(self, share, what):
        if share > self.share and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_stops_with_a_checkpoint_from_which_the_same_call_resumes(ds, small, tmp_path):
    settings = {**small, "epochs": LONG}
    path, kept = tmp_path / "model.safetensors", tmp_path / "model.safetensors.checkpoint"
    whole = drift.fit(ds, **settings)
    with pytest.raises(KeyboardInterrupt, match="progress so far is in .*model.safetensors.checkpoint. The same fit resumes"):
        drift.fit(ds, out=path, progress=CtrlC(), **settings)
    assert kept.exists() and not path.exists()
    resumed = drift.fit(ds, out=path, **settings)
    np.testing.assert_array_equal(resumed.predict_at(*AT)[ds.name], whole.predict_at(*AT)[ds.name])
    assert path.exists() and not kept.exists()


def checkpoints_of_this_session():
    return glob.glob(_session._STEM + "-*")


def test_a_fit_without_any_file_resumes_in_the_same_session(ds, small):
    """As a cell of a notebook, stopped and run again. No other observations and no other settings take its checkpoint up."""
    settings = {**small, "epochs": LONG}
    whole = drift.fit(ds, **settings)
    with pytest.raises(KeyboardInterrupt, match=r"the same fit resumes where it stopped, as long as this Python session lasts. .*\(checkpoint=\)"):
        drift.fit(ds, progress=CtrlC(0.3), **settings)
    (kept,) = checkpoints_of_this_session()
    heard = []
    others = drift.fit(copy.copy(ds), **{**settings, "epochs": 3}, progress=lambda share, what: heard.append(share))
    assert others.settings != whole.settings and checkpoints_of_this_session() == [kept]
    first = []
    resumed = drift.fit(ds, **settings, progress=lambda share, what: first.append(share))
    np.testing.assert_array_equal(resumed.predict_at(*AT)[ds.name], whole.predict_at(*AT)[ds.name])
    assert min(share for share in first if share > 0.05) > 0.1  # not from the beginning
    assert checkpoints_of_this_session() == []


def test_the_end_of_a_session_takes_its_checkpoints_with_it(small, tmp_path):
    script = f"""
import glob, os, signal, drift
ds = drift.simulate(days=3, observations=400, bbox=(-30, 30, 10, 60))
try:
    drift.fit(ds, progress=lambda share, what: os.kill(os.getpid(), signal.SIGINT) if share > 0.3 else None, **{ {**small, 'epochs': LONG}!r})
except KeyboardInterrupt:
    print(len(glob.glob("*.checkpoint")))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [{"checkpoint": False}, "no room"])
def test_ctrl_c_says_how_to_keep_progress_where_nothing_was_kept(ds, small, monkeypatch, how):
    if how == "no room":
        monkeypatch.setattr(_session, "_LEAST_FREE", 1 << 80)
        how = {}
    with pytest.raises(KeyboardInterrupt, match=r"nothing was written. With a file for the model \(out\) or a checkpoint"):
        drift.fit(ds, progress=CtrlC(), **how, **{**small, "epochs": LONG})
    assert checkpoints_of_this_session() == []


SEARCH = {"method": "network", "layers": 1, "features": 32, "bottleneck": 4, "epochs": 100, "members": 2, "tune": "bayes", "trials": 20}


def test_ctrl_c_stops_a_search_from_whose_study_the_same_call_resumes(ds, tmp_path):
    study = tmp_path / "study.json"
    whole = drift.fit(ds, **SEARCH, study=tmp_path / "whole.json")
    with pytest.raises(KeyboardInterrupt, match="the trials so far are in .*study.json. The same search resumes from there"):
        drift.fit(ds, **SEARCH, study=study, progress=CtrlC(0.2))
    done = len(json.loads(study.read_text())["trials"])
    assert 0 < done < SEARCH["trials"]
    resumed = drift.fit(ds, **SEARCH, study=study)
    assert len(json.loads(study.read_text())["trials"]) == SEARCH["trials"]
    np.testing.assert_array_equal(resumed.predict_at(*AT)[ds.name], whole.predict_at(*AT)[ds.name])


def test_ctrl_c_of_a_search_without_a_file_says_how_to_keep_its_trials(ds):
    with pytest.raises(KeyboardInterrupt, match=r"no trial was kept. With a file for the study \(study\) or the model \(out\), the same search resumes"):
        drift.fit(ds, **SEARCH, progress=CtrlC(0.1))


def test_ctrl_c_tells_why_progress_could_not_be_saved(ds, small, tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    press = CtrlC()

    def progress(share, what):
        if share > 0 and folder.exists():
            shutil.rmtree(folder)
        press(share, what)

    with pytest.raises(KeyboardInterrupt, match="gone.*No such file"):
        drift.fit(ds, checkpoint=folder / "kept", progress=progress, **{**small, "epochs": LONG})


def test_ctrl_c_after_the_last_of_the_work_keeps_its_result(ds):
    def progress(share, what):
        if share == 1.0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(RuntimeWarning, match="the work had ended by then; its result is complete") as heard:
        model = drift.fit(ds, method="process", progress=progress)
    assert heard[0].filename == __file__
    assert model.findings["observations"] > 0


def test_ctrl_c_reaches_a_script(tmp_path, small):
    """As a person does it: SIGINT to the process once training is under way, and Python's usual exit."""
    script = f"""
import drift
ds = drift.simulate(days=3, observations=1500, bbox=(-30, 30, 10, 60))
drift.fit(ds, checkpoint="kept", progress=lambda share, what: print("under way", flush=True), **{ {**small, 'epochs': 3000}!r})
"""
    child = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "under way\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors and "kept" in errors
    assert (tmp_path / "kept").exists()


def test_ctrl_c_stops_a_prediction(networks):
    with pytest.raises(KeyboardInterrupt, match="stopped while predicting"):
        networks.predict("global:0.1", "2020-03-02", progress=CtrlC())


def test_ctrl_c_stops_a_comparison(ds, small):
    networks = {name: value for name, value in small.items() if name != "method"}
    with pytest.raises(KeyboardInterrupt, match="the comparison was stopped"):
        drift.compare(ds, ["drift"], progress=CtrlC(), **{**networks, "epochs": 3000})


def test_ctrl_c_stops_reading(ds, tmp_path):
    ds.save(tmp_path / "0.nc")
    for i in range(1, 300):
        os.link(tmp_path / "0.nc", tmp_path / f"{i}.nc")
    with pytest.raises(KeyboardInterrupt, match="stopped while"):
        drift.read(tmp_path / "*.nc", progress=CtrlC(), threads=1)


def test_an_exception_of_a_callback_ends_the_fit_and_has_the_works_sentence_as_its_context(ds, small, tmp_path):
    def fail(share, what):
        raise ZeroDivisionError("mine")

    begin = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        drift.fit(ds, checkpoint=tmp_path / "kept", progress=fail, **{**small, "epochs": 3000})
    assert isinstance(raised.value.__context__, drift.Error) and "kept" in str(raised.value.__context__)
    assert time.monotonic() - begin < 30  # of minutes
