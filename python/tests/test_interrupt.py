"""ctrl-C and exceptions of callbacks: what stops, what is kept, what is said. No clocks: each stop comes from a progress report."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import drift

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


def test_ctrl_c_says_how_to_keep_progress_if_no_file_was_named(ds, small):
    with pytest.raises(KeyboardInterrupt, match=r"nothing was written. With a file for the model \(out\) or a checkpoint"):
        drift.fit(ds, progress=CtrlC(), **{**small, "epochs": LONG})


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
