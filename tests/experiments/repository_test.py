"""The experiments of this repository: their pages follow from their results, and the results are complete."""

import subprocess
import sys
import unittest

from made_up import REPOSITORY

from experimenting.description import experiments
from experimenting.results import Results


class Repository(unittest.TestCase):
    def test_pages_follow_from_complete_results(self):
        done = subprocess.run([sys.executable, str(REPOSITORY / "tools/experiments"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_experiment_has_small_results(self):
        for description in experiments(REPOSITORY / "experiments"):
            if "small" not in description.sizes() or not description.cells("small"):
                continue
            with self.subTest(description.name):
                results = Results(description.folder / "results.json")
                self.assertTrue(results.records, "results.json is missing or empty")

    def test_results_name_no_folder_of_a_machine(self):
        for path in (REPOSITORY / "experiments").glob("*/results.json"):
            for word in ('"/', " /", "build/"):
                self.assertNotIn(word, path.read_text(), path)


if __name__ == "__main__":
    unittest.main()
