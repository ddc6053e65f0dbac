"""Pictures that need more than results.json: maps of fits in the work folder, observations along a track, and what scripts draw. All
need GMT. pictures.json has a digest of the results that each picture shows, so that a picture older than its results is noticed."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .description import listed, of_size
from .figure import scatter
from .machine import plain
from .results import with_data

KINDS = {"mean": "means", "sd": "standard deviations of the field"}


def map_figures(description, size):
    """(file name, title, kind, [[maps]] table) of each picture that a description asks for."""
    for table in (of_size(table, size) for table in description.tables.get("maps", [])):
        known = {data["name"] for data in description.data_sets(size)}
        if known.intersection(listed(table["data"])):
            for kind in table.get("kinds", ["mean"] if "view" in table else ["mean", "sd"]):
                yield f"{size}-maps-{table['name']}-{kind}.png", f"{table['title']}: {KINDS[kind]}", kind, table


def track_figures(description, size):
    """The same of [[tracks]], which are of the data and so the same in every size: shown with the first."""
    if size == description.sizes()[0]:
        for table in description.tables.get("tracks", []):
            yield f"{table['name']}.svg", table["title"], table


def script_figures(description, size):
    """Of [[scripts]], which are of no size and so shown with the first."""
    if size == description.sizes()[0]:
        for table in description.tables.get("scripts", []):
            yield table["name"], table["title"], table


def digest(description, results, size, table):
    """Of a table of [[maps]] or [[scripts]] and the results it shows but for their costs."""
    shown = []
    for cell in description.cells(size):
        if cell.seed == 1 and cell.data in listed(table["data"]) and cell.row in table.get("rows", [cell.row]) and (record := results.of(cell)):
            scores = {name: value for name, value in record["scores"].items() if not name.endswith("_s") and name != "peak_mib"}
            shown.append([cell.data, cell.row, cell.method, cell.settings, scores, record["failure"], record.get("build", "")])
    return hashlib.sha256(json.dumps([table, shown], sort_keys=True).encode()).hexdigest()[:16]


def digests(description, results, size):
    """By picture, of the results as they are."""
    tables = [(name, table) for name, _, _, table in map_figures(description, size)]
    tables += [(name, table) for name, _, table in script_figures(description, size)]
    return {name: digest(description, results, size, table) for name, table in tables}


def drawn_digests(description):
    """By picture, of the results it was drawn from."""
    path = description.folder / "pictures.json"
    return json.loads(path.read_text()) if path.exists() else {}


def outdated(description, results, size):
    """Pictures that are there and older than the results they show."""
    drawn = drawn_digests(description)
    return [name for name, now in digests(description, results, size).items() if (description.folder / name).exists() and drawn.get(name) != now]


def draw(machine):
    """All pictures, with a note of what they show. Returns them."""
    description = machine.description
    pictures = [*draw_maps(machine), *draw_tracks(machine), *draw_scripts(machine)]
    now = digests(description, machine.results, machine.size)
    notes = drawn_digests(description) | {path.name: now[path.name] for path in pictures if path.name in now}
    if notes:
        (description.folder / "pictures.json").write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n")
    return pictures


def fit_of(machine, cell):
    """The latest map of a cell's fits; none: it has not been run, or without maps."""
    found = sorted(machine.folder_of(cell).glob("kept/fits/*.nc"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def cut(machine, path, view):
    """The part of a map of longitudes and latitudes, over the date line too, that a view shows."""
    variable = json.loads((path.parent.parent / "table.json").read_text())["variable"] if path.parent.name == "fits" else ""
    if not variable:  # the truth lies beside the table
        variable = json.loads((path.parent / "table.json").read_text())["variable"]
    place = "_".join(f"{number:g}" for number in view)
    out = path.with_name(f"{path.stem}.{place}.view")  # no .nc: it is no fit
    region = "/".join(f"{number:g}" for number in view)
    subprocess.run(["gmt", "grdcut", "-Vq", f"{path}?{variable}", f"-R{region}", f"-G{out}=nf"], check=True, cwd=machine.work)
    return out


def draw_maps(machine):
    """Every picture of maps whose fits are there, the truth first where there is one. Returns the pictures."""
    description, pictures = machine.description, []
    cells = {(cell.data, cell.row): cell for cell in description.cells(machine.size) if cell.seed == 1}
    for name, _, kind, table in map_figures(description, machine.size):
        places = listed(table["data"])
        panels = []
        for data in places:
            truth = sorted(machine.work.glob(f"{plain(data)}/*/kept/truth.nc"))
            if truth and kind == "mean" and not panels:
                panels.append(("truth", truth[-1]))
            for row in table.get("rows", [row["name"] for row in description.rows(machine.size, data)]):
                if (data, row) in cells and (path := fit_of(machine, cells[(data, row)])):
                    panels.append((f"{row}, {data}" if len(places) > 1 else row, path))
        if len(panels) < 2:
            continue
        if "view" in table:
            panels = [(title, cut(machine, path, table["view"])) for title, path in panels]
        picture = description.folder / name
        words = [word for title, _ in panels for word in ("--name", title)]
        scale = ["--scale-of-first"] if panels[0][0] == "truth" else []
        command = [*machine.drift(), "plot", *(str(path) for _, path in panels), *words, *scale, "--title", table["title"],
                   "--panels", kind, "--dpi", "90", "--quiet", "--out", str(picture)]  # fmt: skip
        if subprocess.run(command, check=False).returncode == 0:
            pictures.append(picture)
    return pictures


def draw_tracks(machine):
    """Values along a track, as they are in the file."""
    pictures = []
    for name, _, table in track_figures(machine.description, machine.size):
        source = f"{with_data(table['file'], machine.options.data)}?{table['x']}/{table['y']}"
        text = subprocess.run(["gmt", "convert", source], check=True, capture_output=True, text=True).stdout
        points = [tuple(map(float, line.split())) for line in text.splitlines() if "NaN" not in line]
        low, high = table["valid"]  # without NetCDF's own fill value too, which GMT takes for a number
        points = [(x, y) for x, y in points if low <= y <= high]
        picture = machine.description.folder / name
        picture.write_text(scatter(table, points))
        pictures.append(picture)
    return pictures


def draw_scripts(machine):
    """What the shell scripts of the folder draw, with this run's drift on the path."""
    pictures = []
    for name, _, table in script_figures(machine.description, machine.size):
        picture = machine.description.folder / name
        with tempfile.TemporaryDirectory() as scratch:
            command = Path(scratch) / "drift"
            command.write_text(f'#!/bin/sh\nexec {" ".join(machine.drift())} "$@"\n')
            command.chmod(0o755)
            script = machine.description.folder / table["script"]
            paths = {"PATH": f"{scratch}:{os.environ['PATH']}", "DATA": str(machine.options.data)}
            done = subprocess.run(["sh", str(script), "out.png"], cwd=scratch, env={**os.environ, **paths}, check=False)
            if done.returncode == 0:
                shutil.copy(Path(scratch) / "out.png", picture)
                pictures.append(picture)
    return pictures
