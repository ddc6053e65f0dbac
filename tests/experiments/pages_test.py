"""Pages and figures from made-up results."""

import tempfile
import unittest
import xml.etree.ElementTree

from made_up import describe, results_of

from experimenting.page import BEGIN, END, PageError, dead_records, gaps, generated, standing, table, with_generated

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


PAPER = """
[[paper_tables]]
title = "Theirs"
columns = ["crps", "minutes"]
rows = [["ours once", "0.30 ± 0.10", "20"], ["untimed", "0.4", ""]]
"""


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

    def test_mark_rows_of_another_build(self):
        results = results_of(self.description, {("a", 1): scores(0.1), ("a", 2): scores(0.1), ("b", 1): scores(0.2)})
        for record in results.records.values():
            record["build"] = "old" if record["row"] == "b" else "new"
        lines = self.table(results)
        self.assertIn("| a |", lines[2])
        self.assertIn("| b † (1 of 2 seeds) |", lines[3])
        self.assertIn("another build", lines[-1])

    def test_say_how_far_the_defaults_are_from_the_best_other_method(self):
        description = describe(self.description.folder.parent, [("a", "a"), ("b", "b"), ("drift", "drift"), ("drift, process alone", "p")])
        data = description.data_sets("small")[0]
        made = {("a", 1): scores(0.2), ("b", 1): scores(0.1), ("drift", 1): scores(0.12), ("drift, process alone", 1): scores(0.05)}
        lines = standing(description, results_of(description, made), "small", data)
        self.assertEqual(lines[0], "The CRPS of drift's defaults is 20 % higher than that of the best other method, b.")
        del made[("drift", 1)]
        self.assertEqual(standing(description, results_of(description, made), "small", data), [])

    def test_show_the_papers_own_numbers_in_a_table_and_as_hollow_points(self):
        description = describe(self.description.folder.parent, ROWS, FIGURE + 'paper_table = "Theirs"\n' + PAPER)
        results = results_of(description, {(row, 1): scores(0.1) for row, _ in ROWS})
        text = generated(description, {"made-up": (description, results)})
        self.assertIn("Theirs:\n\n| method | CRPS | minutes |", text)
        self.assertIn("| ours once | 0.30 ± 0.10 | 20 |", text)
        self.assertIn("| untimed | 0.4 | – |", text)
        from experimenting.page import figures

        drawn = next(figures(description, {"made-up": (description, results)}, "small"))[2]
        self.assertEqual(drawn.count("the paper&#x27;s"), 1, "one of the two has both numbers")
        self.assertEqual(drawn.count('fill="white" stroke='), 2, "the point and its key")

    def test_settings_of_a_size_come_before_those_of_a_row_and_a_row_may_be_like_another(self):
        extra = '[[rows]]\nname = "e"\nlike = "a"\nsettings = { model = { layers = 2 } }\n'
        extra += '[sizes.small.settings]\nmodel = { layers = 1, nu = 0.5 }\n'
        description = describe(self.description.folder.parent, ROWS, extra)
        cells = {cell.row: cell for cell in description.cells("small")}
        self.assertEqual(cells["a"].settings["model"], {"layers": 1, "nu": 0.5})
        self.assertEqual(cells["e"].settings["model"], {"layers": 2, "nu": 0.5})
        self.assertEqual(cells["e"].method, "a")

    def test_say_what_has_not_been_run(self):
        results = results_of(self.description, {("a", 1): scores(0.1)})
        text = generated(self.description, {"made-up": (self.description, results)})
        self.assertEqual(text.count("Not run yet."), 1, "the full size")
        self.assertIn("900 observations train, 100 are held out", text)
        self.assertIn("a machine; drift 9, build unknown; 2026-11-18", text)

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
