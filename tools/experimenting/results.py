"""Results of an experiment, experiments/NAME/results.json: one record per cell, with its scores and how they came about."""

import fcntl
import json
import math
import os
from pathlib import Path

from .description import merged

# How each measure of drift compare is shown: title, what is best ("low", "high", 0.9 for coverage, None for costs), factor, unit.
MEASURES = {
    "rmse": ("RMSE", "low"),
    "mae": ("MAE", "low"),
    "rmae": ("RMAE", "low"),
    "crps": ("CRPS", "low"),
    "nlpd": ("NLPD", "low"),
    "huber_nlpd": ("Huber NLPD", "low"),
    "coverage90": ("in 90 %", 0.9),
    "interval_score95": ("INT 95", "low"),
    "truth_rmse": ("RMSE of the field", "low"),
    "truth_detail_rmse": ("RMSE of detail", "low"),
    "truth_crps": ("CRPS of the field", "low"),
    "truth_nll": ("NLL of the field", "low"),
    "truth_coverage90": ("field in 90 %", 0.9),
    "minutes": ("minutes", None),
    "core_minutes": ("core minutes", None),
    "peak_mib": ("peak MiB", None),
}


def measure(record, name):
    """A record's number, or None."""
    scores = record.get("scores", {})
    if name == "minutes":
        return scores["fit_s"] / 60.0 if "fit_s" in scores else None
    if name == "core_minutes":
        return scores["fit_core_s"] / 60.0 if "fit_core_s" in scores else None
    return scores.get(name)


def badness(name, value):
    """The lower the better; None: the measure is not ranked."""
    best = MEASURES[name][1]
    if best is None:
        return None
    return value if best == "low" else abs(value - best)


def mean_sd(values):
    n = len(values)
    mean = sum(values) / n
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else 0.0


def key_of(record):
    return (record["size"], record["data"], record["row"], record["seed"])


def is_current(record, cell):
    """Whether it is a result of what the description asks for now."""
    return record["method"] == cell.method and record["settings"] == cell.settings


class Results:
    def __init__(self, path):
        self.path = Path(path)
        self.records = {}
        self.add(self._on_disk())

    def _on_disk(self):
        return json.loads(self.path.read_text())["cells"] if self.path.exists() else []

    def add(self, records):
        for record in records:
            self.records[key_of(record)] = record

    def of(self, cell):
        """The record of a cell, or None if it is missing or of other settings."""
        record = self.records.get(cell.key)
        return record if record and is_current(record, cell) else None

    def keep(self, records, cells):
        """Writes the records and those that are there, other runs' too, in the order of the cells; those of no cell are dropped."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self.add(self._on_disk())
            self.add(records)
            kept = [one for cell in cells if (one := self.of(cell))]
            text = json.dumps({"cells": kept}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
            temporary = self.path.with_suffix(".json.new")
            temporary.write_text(text)
            os.replace(temporary, self.path)
        finally:
            os.close(folder)  # and with it the lock


def table_rows(description, results, size, data):
    """Of one table: (row, records that worked, first failure, cells asked for), row by row."""
    out = []
    cells = [cell for cell in description.cells(size) if cell.data == data]
    for row in description.rows(size, data):
        own = [cell for cell in cells if cell.row == row["name"]]
        records = [record for cell in own if (record := results.of(cell))]
        worked = [record for record in records if not record["failure"]]
        failures = [record["failure"] for record in records if record["failure"]]
        out.append((row, worked, failures[0] if failures else "", len(own)))
    return out


def ranks(columns, rows):
    """Rank 1, 2 or 3 by (row, column) of rows with a mean; equal means share a rank. Fewer than two rows have none."""
    out = {}
    for column in columns:
        values = {}
        for i, means in enumerate(rows):
            if means.get(column) is not None and (bad := badness(column, means[column][0])) is not None:
                values[i] = bad
        if len(values) < 2:
            continue
        for i, value in values.items():
            better = sum(other < value for other in values.values())
            if better < 3:
                out[(i, column)] = better + 1
    return out


def row_means(columns, records):
    out = {}
    for column in columns:
        values = [value for record in records if (value := measure(record, column)) is not None]
        out[column] = mean_sd(values) if values else None
    return out


def with_data(settings, folder):
    """Settings with $DATA replaced by the folder of real data."""
    if isinstance(settings, dict):
        return merged({}, {key: with_data(value, folder) for key, value in settings.items()})
    if isinstance(settings, list):
        return [with_data(value, folder) for value in settings]
    return settings.replace("$DATA", str(folder)) if isinstance(settings, str) else settings
