"""Made-up experiments and results for the tests."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from experimenting.description import Description  # noqa: E402
from experimenting.results import Results  # noqa: E402

DESCRIPTION = """
title = "Made up"
[sizes.small]
seeds = 2
[sizes.full]
seeds = 4
[[data]]
name = "sea"
title = "a sea"
columns = ["crps", "coverage90", "minutes"]
simulate = ["--noise", "0.1"]
"""


def describe(folder, rows, extra=""):
    """A description with these rows, in a folder of its own."""
    place = Path(folder) / "made-up"
    place.mkdir(parents=True, exist_ok=True)
    rows = "".join(f'[[rows]]\nname = "{name}"\nmethod = "{method}"\n' for name, method in rows)
    (place / "experiment.toml").write_text(DESCRIPTION + rows + extra)
    return Description(place)


def results_of(description, scores, failures=None, size="small"):
    """Results with the given scores: {(row, seed): {measure: number}}; `failures`: {(row, seed): why}."""
    results = Results(description.folder / "results.json")
    for cell in description.cells(size):
        key = (cell.row, cell.seed)
        failure = (failures or {}).get(key, "")
        if key not in scores and not failure:
            continue
        results.add([{
            "size": size, "data": cell.data, "row": cell.row, "seed": cell.seed, "method": cell.method, "settings": cell.settings,
            "scores": scores.get(key, {}), "failure": failure, "machine": "a machine", "version": "drift 9", "date": "2026-11-18",
            "beside": 0, "command": "none", "observations": {"training": 900, "scored": 100},
        }])  # fmt: skip
    return results
