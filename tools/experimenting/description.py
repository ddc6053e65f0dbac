"""An experiment's description, experiments/NAME/experiment.toml, and the cells it asks for.

A cell is one fit: a row (a method with its settings) on one data set with one seed. Tables of the description:

  title, paper, claim_text   shown on the page
  [sizes.SIZE]               seeds, about, title (of its part of the page); SIZE is small or full. `unfinished` says why rows of a
                             small experiment are missing or maps are old: without it they fail a test, and so does it once
                             nothing is
  [settings]                 tables and keys of a run file, for every cell; overridden by [sizes.SIZE.settings], these by
                             [data.settings], these by [rows.settings]
  [[data]]                   name, title, columns; simulate (arguments of drift simulate) or files; settings; test: a test set of
                             their own, which every model of drift fit on these data is scored on (scored.py)
  [[rows]]                   name, method (as drift compare takes it), settings; data: the data sets it is for (default: all);
                             like: another row, which it equals but for its own keys; seeds: fewer than the size has
  [[claims]]                 what is compared, and with what (claims.py)
  [[figures]]                what is drawn (figure.py)
  [[maps]]                   maps of the first seed as panels: rows (default: all) of data, kinds (mean, sd); view: west, east, south
                             and north of the part to show
  [[tracks]]                 x against y, two variables along a track in a file, where y is valid: between two numbers
  [[scripts]]                pictures by shell scripts of the folder: name, title, script (run as `sh SCRIPT PICTURE`, with $DATA
                             and drift on the path), and the data and rows that the picture shows
  [[paper_tables]]           the paper's own numbers as it prints them: columns (measures), and rows of a name and a text each, such as
                             "0.046 ± 0.005", or "" where there is none

[data.small], [data.full], [rows.small] and [rows.full] override their table's keys in runs of that size; `skip = true` there leaves
the row or the data set out. $DATA in texts is the folder of real data.
"""

import copy
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

SIZES = ("small", "full")
KEYS = {
    "": {"title", "paper", "about", "sizes", "settings", "data", "rows", "claims", "figures", "maps", "tracks", "scripts", "paper_tables"},
    "sizes": {"seeds", "about", "title", "unfinished", "settings"},
    "data": {"name", "title", "columns", "simulate", "files", "settings", "test", "small", "full", "skip"},
    "rows": {"name", "like", "method", "settings", "data", "x", "seeds", "small", "full", "skip"},
    "claims": {"text", "data", "measure", "better", "worse", "row", "to", "within", "comment", "size"},
    "figures": {"name", "title", "experiment", "data", "x", "y", "x_title", "y_title",
                "x_log", "y_log", "line", "rows", "paper_table", "small", "full"},
    "maps": {"name", "title", "data", "rows", "kinds", "view", "small", "full"},
    "tracks": {"name", "title", "file", "x", "y", "valid", "x_title", "y_title"},
    "scripts": {"name", "title", "script", "data", "rows"},
    "paper_tables": {"title", "columns", "rows", "note"},
}


class DescriptionError(Exception):
    pass


def merged(base, over):
    """`over` wins; tables are merged, anything else is replaced."""
    out = copy.deepcopy(base)
    for key, value in over.items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else copy.deepcopy(value)
    return out


def listed(one_or_more):
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


def of_size(table, size):
    """A table of the description as it is for one size."""
    plain = {key: value for key, value in table.items() if key not in SIZES}
    return merged(plain, table.get(size, {}))


@dataclass(frozen=True)
class Cell:
    """One fit."""

    size: str
    data: str
    row: str
    seed: int
    method: str
    settings: dict = field(hash=False)

    @property
    def key(self):
        return (self.size, self.data, self.row, self.seed)


class Description:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.name = self.folder.name
        path = self.folder / "experiment.toml"
        try:
            with open(path, "rb") as file:
                self.tables = tomllib.load(file)
        except OSError as error:
            raise DescriptionError(f"{path}: {error.strerror}") from error
        except tomllib.TOMLDecodeError as error:
            raise DescriptionError(f"{path}: {error}") from error
        self._check(path)

    def _check(self, path):
        def check(table, keys, where):
            for key in table:
                if key not in keys:
                    raise DescriptionError(f"{path}: unknown key '{key}' in {where}; known are {', '.join(sorted(keys))}")

        check(self.tables, KEYS[""], "the description")
        for name in ("data", "rows", "claims", "figures", "maps", "tracks", "scripts", "paper_tables"):
            for table in self.tables.get(name, []):
                check(table, KEYS[name], f"[[{name}]]")
                for size in SIZES:
                    check(table.get(size, {}), KEYS[name], f"[{name}.{size}]")
        for size, table in self.tables.get("sizes", {}).items():
            if size not in SIZES:
                raise DescriptionError(f"{path}: a size is one of {', '.join(SIZES)}, not '{size}'")
            check(table, KEYS["sizes"], f"[sizes.{size}]")
        for name in ("data", "rows"):
            names = [table["name"] for table in self.tables.get(name, [])]
            if len(set(names)) < len(names):
                raise DescriptionError(f"{path}: two [[{name}]] have the same name")
        rows, data = ({table["name"] for table in self.tables.get(name, [])} for name in ("rows", "data"))
        for claim in self.tables.get("claims", []):
            for key in ("better", "worse", "row", "to"):
                if key in claim and claim[key] not in rows:
                    raise DescriptionError(f"{path}: a claim names the row '{claim[key]}', which is not there")
        for name in ("claims", "maps", "scripts"):
            for table in self.tables.get(name, []):
                for one in listed(table.get("data")):
                    if one not in data:
                        raise DescriptionError(f"{path}: [[{name}]] names the data '{one}', which are not there")
                for one in table.get("rows", []):
                    if one not in rows:
                        raise DescriptionError(f"{path}: [[{name}]] names the row '{one}', which is not there")

    @property
    def title(self):
        return self.tables["title"]

    def sizes(self):
        return [size for size in SIZES if size in self.tables.get("sizes", {})]

    def seeds(self, size):
        return list(range(1, self.tables["sizes"][size]["seeds"] + 1))

    def data_sets(self, size):
        return [data for table in self.tables.get("data", []) if not (data := of_size(table, size)).get("skip")]

    def rows(self, size, data):
        """Of one data set, in the order of the description."""
        rows = [row for table in self.tables.get("rows", []) if not (row := of_size(self._whole(table), size)).get("skip")]
        return [row for row in rows if data in row.get("data", [data])]

    def _whole(self, row):
        """A row with what it takes from the one that it is like."""
        if "like" not in row:
            return row
        model = next((table for table in self.tables["rows"] if table["name"] == row["like"]), None)
        if model is None or "like" in model:
            raise DescriptionError(f"{self.name}: '{row['name']}' is like '{row['like']}', which is no row of its own")
        return merged({key: value for key, value in model.items() if key not in ("data", "x")}, row)

    def cells(self, size):
        """The first seed of everything comes first, so that a run that is cut short has something to show."""
        out = []
        for seed in self.seeds(size):
            for data in self.data_sets(size):
                for row in self.rows(size, data["name"]):
                    if seed > row.get("seeds", seed):
                        continue
                    settings = self.tables.get("settings", {})
                    for own in (self.tables["sizes"][size], data, row):
                        settings = merged(settings, own.get("settings", {}))
                    out.append(Cell(size, data["name"], row["name"], seed, row["method"], settings))
        return out


def experiments(root):
    """Every experiment below the folder, by name."""
    return [Description(path.parent) for path in sorted(Path(root).glob("*/experiment.toml"))]


def toml_text(settings):
    """A run file of these settings: texts, numbers, truths and lists of them, in tables one level deep."""

    def value_text(value):
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return repr(value)
        if isinstance(value, list):
            return "[" + ", ".join(value_text(entry) for entry in value) + "]"
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"{key} = {value_text(value)}" for key, value in settings.items() if not isinstance(value, dict)]
    for name, table in settings.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"] + [f"{key} = {value_text(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"
