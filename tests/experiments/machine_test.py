"""A tiny experiment end to end, with the built command: runs, stops, resumes, fails where it should, and writes its page."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from made_up import REPOSITORY

from experimenting.description import Description
from experimenting.pictures import digests
from experimenting.results import Results

HERE = Path(__file__).resolve().parent


PICTURES = {"small-maps-all-mean.png", "small-maps-all-sd.png", "small-maps-corner-mean.png"}


class Tiny(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        self.folder = self.root / "experiments" / "tiny"
        self.folder.mkdir(parents=True)
        shutil.copy(HERE / "tiny" / "experiment.toml", self.folder)
        shutil.copy(HERE / "tiny" / "page.md", self.folder / "README.md")

    def run_tool(self, *arguments):
        return subprocess.run(
            [sys.executable, str(REPOSITORY / "tools" / "experiments"), *arguments, "--root", str(self.root / "experiments"),
             "--work", str(self.root / "work"), "--threads", "2"],
            capture_output=True, text=True, check=False)  # fmt: skip

    def records(self):
        return {record["row"]: record for record in json.loads((self.folder / "results.json").read_text())["cells"]}

    def test_runs_resumes_and_writes_its_page(self):
        # One row alone, which the whole run then does not repeat.
        done = self.run_tool("tiny", "--only", "kriging")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no result of small, box, networks, seed 1", self.run_tool("--check").stderr)
        first = self.records()["kriging"]
        self.assertEqual(set(self.records()), {"kriging"})
        self.assertGreater(first["scores"]["truth_rmse"], 0.0)
        self.assertGreater(first["scores"]["peak_mib"], 1.0)
        (self.folder / "results.json").unlink()  # the work folder still has it
        done = self.run_tool("tiny")
        self.assertEqual(done.returncode, 0, done.stderr)
        records = self.records()
        self.assertEqual(records["kriging"], first)
        self.assertEqual(records["networks"]["settings"]["model"]["no_skip"], True)
        self.assertEqual(records["networks"]["failure"], "")
        self.assertIn("delta", records["too few"]["failure"])
        for record in records.values():
            self.assertTrue(record["machine"] and record["date"] and record["version"] and record["command"])
            self.assertNotIn(str(self.root), json.dumps(record))
        page = (self.folder / "README.md").read_text()
        self.assertIn("| kriging | **", page)
        self.assertIn("| too few | failed: ", page)
        self.assertIn("Kriging beats tiny networks", page)
        # Pictures that the description asks for are drawn and shown.
        self.assertIn("small-maps-all-mean.png is missing", self.run_tool("--check").stderr)
        if shutil.which("gmt"):
            self.assertEqual(self.run_tool("tiny", "--maps").returncode, 0)
        else:
            for name in PICTURES:
                (self.folder / name).touch()
            description = Description(self.folder)
            notes = digests(description, Results(self.folder / "results.json"), "small")
            (self.folder / "pictures.json").write_text(json.dumps(notes))
            self.run_tool("--pages")
        self.assertEqual({path.name for path in self.folder.glob("*.png")}, PICTURES)
        page = (self.folder / "README.md").read_text()
        self.assertIn("![A corner of both: means, first seed](small-maps-corner-mean.png)", page)
        # The page follows from the results: a changed page or a changed result is noticed.
        self.assertEqual(self.run_tool("--check").returncode, 0)
        (self.folder / "README.md").write_text(page.replace("**", "", 2))
        done = self.run_tool("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("differs from its results", done.stderr)
        self.assertEqual(self.run_tool("--pages").returncode, 0)
        self.assertEqual((self.folder / "README.md").read_text(), page)

    def test_stops_when_its_time_is_up(self):
        done = self.run_tool("tiny", "--minutes", "0.001")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("3 cells left", done.stderr)

    def test_refuses_unknown_names_and_keys(self):
        done = self.run_tool("tinny")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no experiment 'tinny'", done.stderr)
        path = self.folder / "experiment.toml"
        path.write_text(path.read_text().replace("seeds = 1", "seed = 1"))
        self.assertIn("unknown key 'seed'", self.run_tool("tiny").stderr)


if __name__ == "__main__":
    unittest.main()
