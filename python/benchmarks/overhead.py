"""What Python costs: import, a call, and a prediction at a million points beside the command's own time.

    PYTHONPATH=build/release/python python3 python/benchmarks/overhead.py --command build/release/drift

The command predicts a map of as many points; its seconds include loading the model and writing the NetCDF file. Python predicts the
same map in memory, and the same points as arrays. Repeated, the least of each counts; run it on an idle machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import drift


def least(repeats, call):
    """Seconds by the clock, and of the processor, which other programs disturb less; those of child processes count too."""

    def cost():
        begin, spent = time.perf_counter(), os.times()
        call()
        return time.perf_counter() - begin, sum(os.times()[:4]) - sum(spent[:4])

    clock, processor = zip(*(cost() for _ in range(repeats)))
    return min(clock), min(processor)


def import_seconds(modules):
    script = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) for _ in range(7))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="build/release/drift")
    parser.add_argument("--side", type=int, default=1000, help="the map has side x side points")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    print(f"import numpy             {1e3 * import_seconds('numpy'):8.1f} ms")
    print(f"import drift             {1e3 * import_seconds('drift'):8.1f} ms, NumPy's among it")

    data = drift.simulate(days=3, observations=2000, bbox=(-30, 30, 10, 60), seed=2)
    model = drift.fit(data, method="network", members=5, layers=2, features=512, bottleneck=64, epochs=3)
    none, one = np.empty(0), np.zeros(1)
    when = np.full(1, 25628.0)
    model.predict_at(one, one + 40, when)
    calls = 2000
    for title, at in (("no point", (none, none, when)), ("one point", (one, one + 40, when))):
        took = least(5, lambda: [model.predict_at(*at) for _ in range(calls)])[0] / calls
        print(f"predict_at, {title:<12} {1e6 * took:8.1f} us a call")

    grid = f"bbox:-20,35,0,55:{20.0 / options.side!r}"
    field = model.predict(grid, "2020-03-02")
    lon, lat = (axis.ravel() for axis in np.meshgrid(field["longitude"], field["latitude"]))
    with tempfile.TemporaryDirectory() as name:
        model.save(f"{name}/model.safetensors")
        words = [options.command, "predict", f"{name}/model.safetensors", "--grid", grid, "--time", "2020-03-02", "--out", f"{name}/map.nc", "--quiet"]
        ways = {
            "the command's map": lambda: subprocess.run(words, check=True),
            "model.predict": lambda: model.predict(grid, "2020-03-02"),
            "model.predict_at": lambda: model.predict_at(lon, lat, "2020-03-02"),
        }
        for title, way in ways.items():
            clock, processor = least(options.repeats, way)
            print(f"{lon.size:,} points, {title:<18} {clock:6.2f} s by the clock, {processor:6.2f} s of the processor")


main()
