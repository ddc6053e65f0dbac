"""Data with a test set of their own: each cell is a `drift fit` on the data, then a `drift score` of the model on the test set.

Keys of a data set's `test` table:

  files      scored files; default: those of the data, for conditions that tell the two apart
  where      conditions on the scored observations; default: those of the data
  value      their variable, if it has another name there
  empty      column of a single CSV file: only rows in which it is empty are scored
"""

import csv
import gzip
import json
from pathlib import Path

from .results import with_data

# Scores of drift score, by what drift compare calls them.
NAMES = {name: name for name in ("rmse", "mae", "rmae", "crps", "coverage90", "interval_score95")} | {"nlpd": "nll"}
EMPTY = {"", "na", "nan"}


def rows_without(source, column, out):
    """Copies the rows of a CSV file in which the column is empty."""
    new = out.with_suffix(".new")
    with (gzip.open(source, "rt") if str(source).endswith(".gz") else open(source)) as text, open(new, "w", newline="") as copy:
        reader = csv.DictReader(text)
        writer = csv.DictWriter(copy, reader.fieldnames)
        writer.writeheader()
        writer.writerows(row for row in reader if row[column].lower() in EMPTY)
    new.replace(out)


def score_words(data):
    """Arguments of drift score after the model, with $DATA in them."""
    test = data["test"]
    words = ["TEST.csv"] if "empty" in test else list(test.get("files", data["files"]))
    words += [word for condition in test.get("where", []) for word in ("--where", condition)]
    if "value" in test:
        words += ["--value", test["value"]]
    return [*words, "--by", "none"]


def fit_words(data):
    """Arguments of drift fit before the method, with $DATA in them."""
    words = list(data["files"])
    for key, value in data.get("settings", {}).get("data", {}).items():
        texts = value if key == "where" else [":".join(f"{end:g}" for end in value) if isinstance(value, list) else value]
        words += [word for text in texts for word in (f"--{key}", text)]
    return words


def command_lines(data):
    """What a cell comes to, for the page."""

    def line(verb, words):
        return " ".join([f"drift {verb}", *(f'"{word}"' if set(word) & set(" *<>=") else word for word in words)])

    lines = [line("fit", [*fit_words(data), "--method", "METHOD", "--seed", "SEED", "--out", "model.safetensors"]),
             line("score", ["model.safetensors", *score_words(data)])]  # fmt: skip
    if "empty" in data["test"]:
        lines.insert(0, f"# TEST.csv: the rows without {data['test']['empty']}")
    return lines


def test_words(machine, data):
    """The same for this machine."""
    words = with_data(score_words(data), machine.options.data)
    if "empty" not in data["test"]:
        return words
    path = machine.work / f"{data['name']}.test.csv"
    with machine.lock:
        if not path.exists():
            files = with_data(data["files"], machine.options.data)
            found = [one for file in files for one in Path(file).parent.glob(Path(file).name)]
            rows_without(found[0], data["test"]["empty"], path)
    return [str(path), *words[1:]]


def fit_and_score(machine, cell, record):
    """The record with scores, or with the reason why there are none."""
    data, folder = machine.data_set(cell.data), machine.folder_of(cell)
    model = folder / "model.safetensors"
    fitted = machine.run_child([*machine.drift(), "fit", str(machine.run_file(cell)), "--out", str(model), "--json", *machine.flags()])
    scored = machine.run_child([*machine.drift(), "score", str(model), *test_words(machine, data), "--json"]) if fitted.status == 0 else fitted
    try:
        fit, score = json.loads(fitted.out), json.loads(scored.out)
    except ValueError:
        lines = [line for line in machine.without_paths(cell, scored.err).strip().splitlines() if line.strip()]
        record["failure"] = lines[-1] if lines else f"it ended with status {scored.status}"
        return record
    record["observations"] = {"training": fit["training_observations"], "scored": score["count"]}
    record["build"] = fit.get("build", "")
    record["threads"] = machine.options.threads or 0
    record["scores"] = {ours: score[name] for ours, name in NAMES.items() if score.get(name) is not None}
    record["scores"] |= {"fit_s": fitted.seconds, "fit_core_s": fitted.core_seconds, "peak_mib": fit["peak_rss_mb"]}
    record["findings"] = {"warnings": [machine.without_paths(cell, warning) for warning in fit["warnings"]]}
    model.unlink()  # hundreds of them would fill a disk
    return record
