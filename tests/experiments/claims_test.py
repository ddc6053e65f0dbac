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

    def test_are_undecided_within_two_standard_errors(self):
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
