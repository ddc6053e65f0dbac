"""Runs the cells of an experiment with the built command, a process each, and keeps a record of every one that has ended."""

import datetime
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from .description import toml_text
from .results import is_current, key_of, with_data
from .scored import fit_and_score


def machine_words():
    """This machine: processor, cores, memory, GPU."""
    model, memory = "", 0
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            memory = round(int(line.split()[1]) / 2**20)
    words = f"{len(os.sched_getaffinity(0))} cores of {model or 'an unknown processor'}, {memory} GiB"
    try:
        gpus = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
        words += "".join(f", {name.strip()}" for name in gpus.stdout.splitlines())
    except (OSError, subprocess.CalledProcessError):
        pass
    return words


def plain(text):
    """A name for files."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()


class Stopped(Exception):
    """The time is up, or the user has stopped the run."""


class Ended(NamedTuple):
    """A child process that has ended."""

    out: str
    err: str
    status: int
    seconds: float = 0.0
    core_seconds: float = 0.0


class Machine:
    def __init__(self, description, results, size, options):
        self.description, self.results, self.size, self.options = description, results, size, options
        self.work = Path(options.work) / description.name / size
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = threading.Event()
        self.version = subprocess.run([*self.drift(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
        self.words = machine_words()
        self.deadline = time.monotonic() + 60.0 * options.minutes if options.minutes else None

    def drift(self):
        return shlex.split(str(self.options.drift))

    def take_up(self):
        """Records that an earlier run has left in the work folder, where results.json lacks them."""
        cells = {cell.key: cell for cell in self.description.cells(self.size)}
        for path in sorted(self.work.glob("cells/*.json")):
            record = json.loads(path.read_text())
            cell = cells.get(key_of(record))
            if cell and is_current(record, cell) and self.results.of(cell) is None:
                self.results.add([record])
        if self.results.records:
            self.results.keep(list(self.results.records.values()), self.all_cells())

    def wanted(self):
        """Cells still to be run."""
        out = []
        for cell in self.description.cells(self.size):
            if (self.options.only and cell.row not in self.options.only) or (self.options.on and cell.data not in self.options.on):
                continue
            if self.options.seeds and cell.seed > self.options.seeds:
                continue
            record = None if self.options.fresh else self.results.of(cell)
            if record is None or (record["failure"] and self.options.retry):
                out.append(cell)
        return out

    def run(self):
        """Returns the number of cells left undone."""
        (self.work / "cells").mkdir(parents=True, exist_ok=True)
        cells = self.wanted()
        bad = {data for data in {cell.data for cell in cells} if not self.prepare(data)}
        queue = [(number, cell) for number, cell in enumerate(cells, 1) if cell.data not in bad]
        left = [len(cells)]

        def worker():
            while True:
                with self.lock:
                    if not queue or self.stopped.is_set():
                        return
                    number, cell = queue.pop(0)
                try:
                    record = self.fit(cell)
                except Stopped:
                    self.stopped.set()
                    return
                with self.lock:
                    left[0] -= 1
                    self.keep(cell, record)
                    self.say(f"{number}/{len(cells)}  {self.words_of(cell)}: {self.outcome(record)}")

        threads = [threading.Thread(target=worker) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stopped.set()
            for thread in threads:
                thread.join()
        return left[0]

    @staticmethod
    def words_of(cell):
        return f"{cell.data}, {cell.row}, seed {cell.seed}"

    @staticmethod
    def outcome(record):
        if record["failure"]:
            return f"failed: {record['failure']}"
        scores = record["scores"]
        name = "truth_crps" if "truth_crps" in scores else "crps"
        return f"{name} {scores[name]:.4g}, fitted in {scores['fit_s']:.1f} s" if name in scores else "done"

    def say(self, text):
        print(f"{self.description.name} ({self.size})  {text}", flush=True)

    def keep(self, cell, record):
        path = self.work / "cells" / f"{plain(cell.data)}.{plain(cell.row)}.{cell.seed}.json"
        path.write_text(json.dumps(record))
        self.results.keep([record], self.all_cells())

    def all_cells(self):
        return [cell for size in self.description.sizes() for cell in self.description.cells(size)]

    def data_set(self, name):
        return next(data for data in self.description.data_sets(self.size) if data["name"] == name)

    def files(self, name):
        data = self.data_set(name)
        return with_data(data["files"], self.options.data) if "files" in data else [str(self.work / f"{plain(name)}.nc")]

    def prepare(self, name):
        """Simulates the observations, unless the same command has done so. False: it failed, and its cells stay undone."""
        data = self.data_set(name)
        if "simulate" not in data:
            return True
        arguments = with_data(data["simulate"], self.options.data)
        out, note = self.work / f"{plain(name)}.nc", self.work / f"{plain(name)}.command"
        if out.exists() and note.exists() and note.read_text() == json.dumps(data["simulate"]):
            return True
        self.say(f"simulating {name}")
        if subprocess.run([*self.drift(), "simulate", "--out", str(out), "--quiet", *arguments], check=False).returncode != 0:
            return False
        note.write_text(json.dumps(data["simulate"]))
        return True

    def run_file(self, cell):
        """Writes what drift compare is to do."""
        folder = self.folder_of(cell)
        folder.mkdir(parents=True, exist_ok=True)
        settings = with_data(cell.settings, self.options.data)
        settings["seed"] = cell.seed
        settings["data"] = {**settings.get("data", {}), "files": self.files(cell.data)}
        if "test" in self.data_set(cell.data):
            settings["fit"] = {**settings.get("fit", {}), "method": cell.method}
        else:
            settings["compare"] = {**settings.get("compare", {}), "methods": [cell.method], "seeds": 1, "folder": str(folder / "kept")}
        path = folder / "run.toml"
        path.write_text(toml_text(settings))
        return path

    def fit(self, cell):
        record = {
            "size": cell.size, "data": cell.data, "row": cell.row, "seed": cell.seed, "method": cell.method,
            "settings": cell.settings, "scores": {}, "failure": "",
            "machine": self.words, "version": self.version, "date": datetime.date.today().isoformat(),
            "beside": self.options.jobs - 1, "command": self.command_words(cell),
        }  # fmt: skip
        if "test" in self.data_set(cell.data):
            return fit_and_score(self, cell, record)
        command = [*self.drift(), "compare", str(self.run_file(cell)), "--json", *self.flags()]
        if not self.writes_truth(cell):
            command.append("--no-maps")
        ended = self.run_child(command)
        return self.read_outcome(record, ended.out, self.without_paths(cell, ended.err), ended.status)

    def flags(self):
        """Of every fit."""
        return (["--threads", str(self.options.threads)] if self.options.threads else []) + (["--fresh"] if self.options.fresh else [])

    def without_paths(self, cell, text):
        """Messages without the paths of this machine."""
        return text.replace(f"{self.folder_of(cell)}/", "").replace(f"{self.options.data}/", "")

    def writes_truth(self, cell):
        """One fit of each data set also writes the map of the truth."""
        first = self.description.rows(self.size, cell.data)[0]["name"]
        return (cell.row, cell.seed) == (first, 1) and "truth" in cell.settings.get("compare", {})

    def folder_of(self, cell):
        return self.work / plain(cell.data) / f"{plain(cell.row)}-{cell.seed}"

    def command_words(self, cell):
        return f"tools/experiments {self.description.name} --{self.size} --only {shlex.quote(cell.row)}"

    @staticmethod
    def read_outcome(record, out, err, status):
        try:
            table = json.loads(out)
            method = table["methods"][0]
        except (ValueError, LookupError):
            lines = [line for line in err.strip().splitlines() if line.strip()]
            record["failure"] = lines[-1] if lines else f"drift compare ended with status {status}"
            return record
        record["observations"] = {"training": table["training_observations"], "scored": table["held_out_observations"]}
        record["unit"] = table["unit"]
        record["build"] = table["build"]
        record["threads"] = table["threads"]
        record["scores"] = {name: entry["mean"] for name, entry in method["measures"].items()}
        record["findings"] = method["findings"]
        record["failure"] = method["failure"] or ""
        return record

    def run_child(self, command):
        """A cell's own limit makes it fail, the run's deadline stops all."""
        if self.deadline and time.monotonic() >= self.deadline:
            raise Stopped
        limit = 60.0 * self.options.limit if self.options.limit else None
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err)
            while True:
                pid, status, use = os.wait4(child.pid, os.WNOHANG)  # the use of this child alone, whatever runs beside it
                if pid:
                    child.returncode = os.waitstatus_to_exitcode(status)
                    break
                late = self.deadline is not None and time.monotonic() >= self.deadline
                if late or self.stopped.is_set():
                    self.end(child)
                    raise Stopped
                if limit is not None and time.monotonic() - begun >= limit:
                    self.end(child)
                    return Ended("", f"stopped after {self.options.limit:g} minutes", 124)
                time.sleep(0.05)
            out.seek(0)
            err.seek(0)
            return Ended(out.read(), err.read(), child.returncode, time.monotonic() - begun, use.ru_utime + use.ru_stime)

    @staticmethod
    def end(child):
        child.send_signal(signal.SIGINT)
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def cell_lines(description, results, size):
    """A line per cell: its state, data, row and seed."""
    for cell in description.cells(size):
        record = results.of(cell)
        state = "missing" if record is None else "failed" if record["failure"] else "done"
        yield f"{state:8} {cell.data}  {cell.row}  seed {cell.seed}  ({cell.method})"


