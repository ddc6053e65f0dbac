"""Every description of this repository with few observations: each fit of the small experiments runs to its scores, with the least of
networks and steps, and each row and each data set of the full ones is planned as it is."""

import os
import re
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from made_up import REPOSITORY

from experimenting.description import experiments, merged
from experimenting.machine import Machine
from experimenting.results import Results, measure

DATA = Path(os.environ.get("DRIFT_DATA", REPOSITORY.parent / "shared" / "data"))
DRIFT = os.environ.get("DRIFT", str(REPOSITORY / "build/release/drift"))
# Of methods' options, the least that is still the method.
LEAST = {"trials": 2, "members": 2, "epochs": 1, "steps": 5, "inducing": 16, "width": 16, "depth": 2, "subset": 100, "neighbours": 16,
         "max_observations": 60, "draws": 2}  # fmt: skip
NETWORKS = {"model": {"members": 2, "features": 32, "bottleneck": 8}, "train": {"epochs": 1.0}, "tune": {"initial": 1, "members": 1}}
# Per data set: observations to simulate (some fall on land), part of the real ones, grid of the maps.
FEW = {
    ("mean-sea-surface", "antarctic"): (800, [], "bbox:-180,-70,180,-50:10"),
    ("freeboard", "simulated"): (1500, [], "bbox:-180,65,180,85:10"),
    ("freeboard", "real"): (0, [-180.0, -90.0, 30.0, -50.0], "bbox:-60,-70,20,-50:10"),
    ("global-sea-level", "simulated"): (1000, [], "global:20"),
    ("global-sea-level", "real"): (0, [200.0, -60.0, 230.0, -40.0], "bbox:200,-60,230,-40:5"),
    ("global-sea-level", "saral"): (0, [200.0, -60.0, 230.0, -40.0], "bbox:200,-60,230,-40:5"),
    ("real", "waves"): (0, [-40.0, -20.0, 0.0, 20.0], ""),
    ("real", "heaton"): (0, [-94.0, 35.0, -93.0, 36.0], ""),
    ("real", "gsfc"): (0, [200.0, -60.0, 230.0, -40.0], ""),
    ("ablations", "all"): (1000, [], "global:20"),
    ("ablations", "tenth"): (400, [], "global:20"),
    ("ablations", "hundredth"): (300, [], "global:20"),
}
USUAL = (600, [], "bbox:-180,65,180,85:10")


def least_method(text):
    return re.sub(r"(\w+)=([\d.]+)", lambda match: f"{match[1]}={min(float(match[2]), LEAST.get(match[1], float(match[2]))):g}", text)


def with_few(description, size, networks):
    """The description with few observations; with the least of networks too, or its methods as they are."""
    for data in description.tables["data"]:
        count, box, grid = FEW.get((description.name, data["name"]), USUAL)
        own = data.setdefault(size, {})
        settings = {} if "test" in data else {"compare": {"grid": grid}}
        if "simulate" in own:
            own["simulate"][own["simulate"].index("--observations") + 1] = str(count)
        if box:
            settings["data"] = {"bbox": box}
        own["settings"] = merged(own.get("settings", {}), settings)
    for row in description.tables["rows"] if networks else []:
        own = row.setdefault(size, {})
        for table in (row, own):
            if "method" in table:
                table["method"] = least_method(table["method"])
        own["settings"] = merged(own.get("settings", {}), NETWORKS)


def plan_words(machine, cell):
    verb = "fit" if "test" in machine.data_set(cell.data) else "compare"
    return [verb, str(machine.run_file(cell)), "--plan"]


def first_of_each(cells):
    """Those that are the first of their row or of their data set: a plan takes seconds."""
    seen, out = set(), []
    for cell in cells:
        marks = {("row", cell.row), ("data", cell.data)}
        if not marks <= seen:
            out.append(cell)
        seen |= marks
    return out


class Descriptions(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def machines(self, size, networks):
        """One per experiment, in a folder of its own."""
        for description in experiments(REPOSITORY / "experiments"):
            if size not in description.sizes() or not description.cells(size):
                continue
            with_few(description, size, networks)
            description.folder = self.folder / description.name
            description.folder.mkdir()
            options = SimpleNamespace(work=self.folder / "work", drift=DRIFT, data=DATA, only=None, on=None, seeds=1, jobs=2, threads=1,
                                      minutes=None, limit=None, retry=False, fresh=False)  # fmt: skip
            yield Machine(description, Results(description.folder / "results.json"), size, options)

    @unittest.skipUnless(DATA.exists(), "no real data here")
    def test_small_fits_run_to_their_scores(self):
        for machine in self.machines("small", True):
            machine.say = lambda text: None
            self.assertEqual(machine.run(), 0)
            for record in machine.results.records.values():
                with self.subTest(machine.description.name, data=record["data"], row=record["row"]):
                    self.assertEqual(record["failure"], "")
                    columns = machine.data_set(record["data"])["columns"]
                    self.assertEqual([name for name in columns if measure(record, name) is None], [])

    @unittest.skipUnless(DATA.exists(), "no real data here")
    def test_full_fits_can_be_planned(self):
        for machine in self.machines("full", False):
            machine.say = lambda text: None
            machine.work.mkdir(parents=True)
            for data in machine.description.data_sets("full"):
                self.assertTrue(machine.prepare(data["name"]))
            cells = first_of_each([cell for cell in machine.description.cells("full") if cell.seed == 1])
            with ThreadPoolExecutor(2) as pool:
                runs = pool.map(lambda cell, machine=machine: subprocess.run([DRIFT, *plan_words(machine, cell)],
                                capture_output=True, text=True, check=False), cells)  # fmt: skip
            for cell, run in zip(cells, runs, strict=True):
                with self.subTest(machine.description.name, data=cell.data, row=cell.row):
                    self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
