"""Verdicts on claims, from made-up results."""

import tempfile
import unittest

from made_up import describe, results_of

from experimenting.claims import FAILS, HOLDS, MISSING, OPEN, number_text, spread_text, verdict

CLAIM = {"text": "a beats b", "data": "sea", "measure": "crps", "better": "a", "worse": "b"}


class Claims(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.description = describe(scratch.name, [("a", "a"), ("b", "b")])

    def word(self, a, b, claim=CLAIM, name="crps"):
        made = {("a", seed): {name: value} for seed, value in enumerate(a, 1)}
        made |= {("b", seed): {name: value} for seed, value in enumerate(b, 1)}
        return verdict(self.description, results_of(self.description, made, size="full"), claim, "full").word

    def test_hold_where_every_pair_differs_that_way(self):
        # Seeds differ by more than the rows do: only pairs tell.
        self.assertEqual(self.word([1.0, 2.0, 3.0], [1.1, 2.1, 3.11]), HOLDS)
        self.assertEqual(self.word([1.1, 2.1, 3.11], [1.0, 2.0, 3.0]), FAILS)

    def test_are_undecided_within_the_t_interval_of_so_many_seeds(self):
        self.assertEqual(self.word([1.0, 1.0], [1.1, 1.2]), OPEN, "three standard errors say little with two seeds")
        self.assertEqual(self.word([1.0, 1.0, 1.0, 1.0], [1.1, 1.2, 1.1, 1.2]), HOLDS)
        self.assertEqual(self.word([1.0, 1.0, 1.0], [1.3, 0.9, 1.0]), OPEN)
        self.assertEqual(self.word([1.0, 1.0], [1.0, 1.0]), OPEN)

    def test_go_by_the_sign_with_one_seed_and_say_so(self):
        self.assertEqual(self.word([1.0], [1.1]), "so with one seed")
        self.assertEqual(self.word([1.1], [1.0]), "not so with one seed")

    def test_are_not_measured_without_a_seed_in_common(self):
        self.assertEqual(self.word([1.0], []), MISSING)

    def test_judge_coverage_by_its_distance_from_ninety_per_cent(self):
        claim = {**CLAIM, "measure": "coverage90"}
        self.assertEqual(self.word([0.88, 0.92, 0.9], [0.99, 0.8, 0.99], claim, "coverage90"), HOLDS)

    def test_judge_a_range(self):
        claim = {"text": "calibrated", "data": "sea", "measure": "coverage90", "row": "a", "within": [0.85, 0.95]}
        self.assertEqual(self.word([0.86, 0.95], [], claim, "coverage90"), HOLDS)
        self.assertEqual(self.word([0.6, 0.7], [], claim, "coverage90"), FAILS)

    def test_judge_the_ratio_of_two_rows(self):
        claim = {"text": "twice", "data": "sea", "measure": "crps", "row": "a", "to": "b", "within": [1.8, 2.2]}
        self.assertEqual(self.word([2.0, 4.2], [1.0, 2.0], claim), HOLDS)
        self.assertEqual(self.word([2.0, 4.2], [1.0, 1.0], claim), FAILS)
        self.assertEqual(self.word([2.0], [], claim), MISSING)


class ClaimsOnTwoDataSets(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        lake = '[[data]]\nname = "lake"\ntitle = "a lake"\ncolumns = ["crps"]\nsimulate = ["--noise", "0.1"]\n'
        self.description = describe(scratch.name, [("a", "a")], lake)

    def word(self, sea, lake, claim):
        results = results_of(self.description, {("a", seed): {"crps": value} for seed, value in enumerate(sea, 1)}, size="full")
        for record in list(results.records.values()):
            other = {**record, "data": "lake", "scores": {"crps": lake[record["seed"] - 1]}}
            results.add([record, other])
        for cell in self.description.cells("full"):  # the settings of each are its own
            if cell.key in results.records:
                results.records[cell.key]["settings"] = cell.settings
        return verdict(self.description, results, {"text": "", "data": ["sea", "lake"], "measure": "crps", **claim}, "full")

    def test_take_the_better_from_the_first_and_the_worse_from_the_second(self):
        both = {"better": "a", "worse": "a"}
        self.assertEqual(self.word([1.0, 1.0, 1.0], [2.0, 2.1, 2.0], both).word, HOLDS)
        self.assertEqual(self.word([2.0, 2.1, 2.0], [1.0, 1.0, 1.0], both).word, FAILS)

    def test_judge_the_ratio_of_a_row(self):
        ratio = {"row": "a", "within": [0.0, 10.0]}
        self.assertEqual(self.word([8.0, 9.0], [1.0, 1.0], ratio).word, HOLDS)
        self.assertEqual(self.word([12.0, 13.0], [1.0, 1.0], ratio).word, FAILS)


class Numbers(unittest.TestCase):
    def test_have_as_many_digits_as_they_deserve(self):
        self.assertEqual(spread_text(0.12345, 0.0012, 3), "0.1235 ± 0.0012")
        self.assertEqual(spread_text(0.12345, 0.12, 3), "0.12 ± 0.12")
        self.assertEqual(spread_text(0.12345, 0.0, 1), "0.123")
        self.assertEqual(number_text(12345.6), "12,346")
        self.assertEqual(number_text(2.26e17), "2.26e+17")
        self.assertEqual(number_text(-0.5), "-0.500")
        self.assertEqual(number_text(1e-9), "1.00e-09")


if __name__ == "__main__":
    unittest.main()
