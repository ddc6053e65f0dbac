"""Pages and figures from made-up results."""

import tempfile
import unittest
import xml.etree.ElementTree

from made_up import describe, results_of

from experimenting.page import BEGIN, END, PageError, dead_records, gaps, generated, table, with_generated

ROWS = [(name, name) for name in ("a", "b", "c", "d")]
FIGURE = """
[[figures]]
name = "cost"
title = "Error & cost"
data = "sea"
x = "minutes"
y = "crps"
x_log = true
"""


def scores(crps, coverage=0.9, fit_s=60.0):
    return {"crps": crps, "coverage90": coverage, "fit_s": fit_s}


class Pages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.description = describe(scratch.name, ROWS, FIGURE)

    def table(self, results):
        return table(self.description, results, "small", self.description.data_sets("small")[0])

    def test_mark_best_second_and_third(self):
        means = {"a": 0.4, "b": 0.1, "c": 0.3, "d": 0.2}
        lines = self.table(results_of(self.description, {(row, seed): scores(mean) for row, mean in means.items() for seed in (1, 2)}))
        column = [line.split(" | ")[1] for line in lines[2:]]
        self.assertEqual(column, ["0.400", "**0.100**", "0.300 (3rd)", "0.200 (2nd)"])

    def test_rank_coverage_by_its_distance_from_ninety_per_cent(self):
        shares = {"a": 0.99, "b": 0.91, "c": 0.87, "d": 0.5}
        made = {(row, 1): scores(1.0, share) for row, share in shares.items()}
        column = [line.split(" | ")[2] for line in self.table(results_of(self.description, made))[2:]]
        self.assertEqual(column, ["99.0 % (3rd)", "**91.0 %**", "87.0 % (2nd)", "50.0 %"])

    def test_rank_no_costs(self):
        made = {(row, 1): scores(0.1, fit_s=60.0 * i) for i, (row, _) in enumerate(ROWS, 1)}
        for line in self.table(results_of(self.description, made))[2:]:
            self.assertNotIn("*", line.split(" | ")[3])

    def test_show_mean_and_standard_deviation_over_seeds(self):
        lines = self.table(results_of(self.description, {("a", 1): scores(0.1), ("a", 2): scores(0.2)}))
        self.assertIn("| 0.150 ± 0.071 |", lines[2])

    def test_show_missing_and_failed_rows_and_seeds(self):
        made = {("a", 1): scores(0.1), ("a", 2): scores(0.1), ("b", 2): scores(0.2)}
        lines = self.table(results_of(self.description, made, {("b", 1): "crashed", ("c", 1): "out of memory"}))
        self.assertIn("| b (1 of 2 seeds) |", lines[3])
        self.assertIn("| c | failed: out of memory |", lines[4])
        self.assertIn("| d | missing |", lines[5])
        self.assertEqual({line.count("|") for line in lines}, {5})

    def test_say_what_has_not_been_run(self):
        results = results_of(self.description, {("a", 1): scores(0.1)})
        text = generated(self.description, {"made-up": (self.description, results)})
        self.assertEqual(text.count("Not run yet."), 1, "the full size")
        self.assertIn("900 observations train, 100 are held out", text)
        self.assertIn("a machine; drift 9; 2026-11-18", text)

    def test_replace_what_stands_between_the_markers_and_nothing_else(self):
        page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
        self.assertEqual(with_generated(page, "new", "page"), "before\nnew\nafter\n")
        with self.assertRaises(PageError):
            with_generated("no markers", "new", "page")

    def test_draw_every_row_that_has_both_numbers(self):
        made = {(row, 1): scores(0.1 * i, fit_s=10.0**i) for i, (row, _) in enumerate(ROWS[:3], 1)}
        every = {"made-up": (self.description, results_of(self.description, made))}
        from experimenting.page import figures

        drawn = list(figures(self.description, every, "small"))
        self.assertEqual([name for name, _, _ in drawn], ["small-cost.svg"])
        root = xml.etree.ElementTree.fromstring(drawn[0][2])
        circles = [element for element in root.iter() if element.tag.endswith("circle")]
        self.assertEqual(len(circles), 6, "three points and three keys")
        points = sorted((float(one.get("cx")), -float(one.get("cy"))) for one in circles[::2])
        self.assertEqual(points, sorted(points, key=lambda point: point[1]), "errors rise with time")

    def test_are_incomplete_without_a_result_of_todays_settings(self):
        made = {(row, seed): scores(0.1) for row, _ in ROWS for seed in (1, 2)}
        results = results_of(self.description, made)
        self.assertEqual(list(gaps(self.description, results)), [])
        changed = describe(self.description.folder.parent, [("a", "a:other=1"), *ROWS[1:]])
        self.assertEqual({(cell.row, cell.seed) for cell in gaps(changed, results)}, {("a", 1), ("a", 2)})
        self.assertEqual(len(dead_records(changed, results)), 2)


if __name__ == "__main__":
    unittest.main()
