"""What Python costs: import, a call, and a prediction at a million points beside the command's own prediction time.

    PYTHONPATH=build/release/python python3 python/benchmarks/overhead.py --command build/release/drift

The command predicts a map of as many points and prints what its predictions alone took (`predict_core_s` of `drift predict --json`), without
loading the model, masks and writing the file. `predict_at` predicts the same points, given as arrays, all of the call counted. They
take turns, and the least of each counts, in seconds of the processor, which other programs disturb little; those by the clock are
shown beside them. Exits with status 1 if a limit is exceeded.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

import numpy as np

import drift

IMPORT_S, CALL_S, RATIO = 0.3, 50e-6, 1.05
NETWORKS = {"members": 5, "layers": 2, "features": 512, "bottleneck": 64, "epochs": 3}


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def import_seconds(modules):
    script = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) for _ in range(7))


def call_seconds(model, at, calls=2000):
    model.predict_at(*at)
    return min(seconds(lambda: [model.predict_at(*at) for _ in range(calls)]) for _ in range(5)) / calls


def prediction_seconds(command, model, side, repeats):
    """Of the command, and of predict_at, for the points of a map of side by side cells: [of the processor, by the clock] each."""
    grid, when = f"bbox:-20,35,0,55:{20.0 / side!r}", "2020-03-02"
    lon, lat = (axis.ravel() for axis in np.meshgrid(*(low + 20.0 / side * (np.arange(side) + 0.5) for low in (-20.0, 35.0))))
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.safetensors")
        words = [command, "predict", f"{folder}/model.safetensors", "--grid", grid, "--time", when, "--out", f"{folder}/map.nc", "--json"]
        for _ in range(repeats):
            report = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            assert report["points"] == lon.size, report
            theirs.append((report["predict_core_s"], report["predict_s"]))
            spent = time.process_time()
            clock = seconds(lambda: model.predict_at(lon, lat, when))
            ours.append((time.process_time() - spent, clock))
    return np.min(theirs, axis=0), np.min(ours, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="build/release/drift")
    parser.add_argument("--side", type=int, default=1000, help="the map has side x side points")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=["networks", "blend"], default=["networks", "blend"], help="of which to predict a map")
    options = parser.parse_args()
    failures = []

    def judge(what, cost, limit, shown):
        print(f"{what:<46} {shown}{'' if cost <= limit else '   TOO MUCH'}", flush=True)
        if cost > limit:
            failures.append(what)

    whole, of_numpy = import_seconds("drift"), import_seconds("numpy")
    judge("import drift", whole, IMPORT_S, f"{1e3 * whole:8.1f} ms, of which NumPy {1e3 * of_numpy:.1f}")
    data = drift.simulate(days=3, observations=2000, bbox=(-30, 30, 10, 60), seed=2)
    models = {"networks": drift.fit(data, method="network", **NETWORKS), "blend": drift.fit(data, **NETWORKS)}
    none, one, when = np.empty(0), np.zeros(1), np.full(1, 25628.0)
    call = call_seconds(models["networks"], (none, none, when))
    judge("predict_at, no point: the call itself", call, CALL_S, f"{1e6 * call:8.1f} us")
    for name, model in models.items():
        print(f"{'predict_at, one point, ' + name:<46} {1e6 * call_seconds(model, (one, one + 40, when), 200):8.1f} us")
    for name in options.models:
        theirs, ours = prediction_seconds(options.command, models[name], options.side, options.repeats)
        what = f"predict_at, {options.side**2:,} points, {name}"
        ratio, by_clock = ours / theirs
        shown = f"{ours[0]:8.2f} core-seconds, the command {theirs[0]:.2f}: {ratio:.3f} (by the clock {ours[1]:.2f} s, {theirs[1]:.2f} s: {by_clock:.3f})"
        judge(what, ratio, RATIO, shown)
    return 1 if failures else 0


sys.exit(main())
