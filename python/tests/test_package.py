"""Types, and examples in docstrings and pages."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import drift

PACKAGE = pathlib.Path(drift.__file__).parent
MODULES = ["drift", "drift._accessor", "drift._dataset", "drift._model", "drift._verbs", "drift.sklearn"]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_hold(name, model, tmp_path, monkeypatch):
    """In a folder with a model, which some of them load."""
    model.save(tmp_path / "model.safetensors")
    if name == "drift._accessor":
        pytest.importorskip("cartopy")
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    assert result.failed == 0 and result.attempted > 0


def test_every_public_name_has_a_docstring():
    for name in drift.__all__:
        assert name == "__version__" or getattr(drift, name).__doc__, name


def test_every_public_function_has_an_example_that_the_tests_run():
    from drift import _accessor

    DriftRegressor = pytest.importorskip("drift.sklearn").DriftRegressor
    functions = [getattr(drift, name) for name in drift.__all__ if callable(getattr(drift, name)) and not isinstance(getattr(drift, name), type)]
    functions += [drift.Dataset, drift.Model, drift.Dataset.from_pandas, drift.Dataset.from_xarray, _accessor.FieldAccessor.plot]
    functions += [drift.Model.predict, drift.Model.predict_at, drift.Model.score, drift.Model.save, drift.Dataset.save, drift.Dataset.summary]
    functions += [drift.Dataset.with_test, drift.Dataset.with_test_platforms, drift.Dataset.to_pandas, DriftRegressor.fit, DriftRegressor.predict]
    finder = doctest.DocTestFinder()
    run = {test.name for module in MODULES for test in finder.find(importlib.import_module(module)) if test.examples}
    assert len(functions) > 15
    for function in functions:
        assert f"{function.__module__}.{function.__qualname__}" in run, function


def test_the_page_has_a_row_for_every_verb_of_the_command(root):
    table = (root / "docs" / "python.md").read_text().split("## Every verb")[1].split("## ")[0]
    rows = "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `drift"))
    verbs = {page.stem for page in (root / "docs" / "verbs").glob("*.md")}
    assert len(verbs) > 8 and {word for word in re.findall(r"`drift ([a-z]+)", rows)} == verbs


@pytest.mark.parametrize("imports", ["import drift, xarray", "import xarray, drift", "import drift; from xarray import open_dataset; import xarray"])
def test_a_map_that_xarray_opens_has_the_accessor_without_a_prediction(imports, model, tmp_path):
    """In a fresh interpreter, whichever is imported first."""
    model.predict("bbox:-10,35,10,45:5", "2020-03-02").to_netcdf(tmp_path / "map.nc")
    script = f"{imports}; import sys; assert not any('drift' in type(f).__module__ for f in sys.meta_path); print(xarray.open_dataset('map.nc').drift.variable)"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "synthetic\n", done.stderr


def test_simulates_defaults_are_the_librarys():
    usual = drift._drift.simulate_defaults()
    parameters = inspect.signature(drift.simulate).parameters
    assert len(usual) >= 8
    for name, value in usual.items():
        default = parameters[name].default
        assert (list(default) if isinstance(default, tuple) else default) == value, name


def mypy(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", "mypy", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)


@pytest.fixture(scope="module")
def typed(tmp_path_factory, root):
    pytest.importorskip("mypy")
    if not (PACKAGE / "_verbs.pyi").exists():
        pytest.skip("this build has no stub of the verbs")
    folder = tmp_path_factory.mktemp("typed")
    shutil.copytree(PACKAGE, folder / "drift", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(root / "pyproject.toml", folder)
    return folder


@pytest.mark.parametrize("faces", ["stubs", "sources"])
def test_mypy_finds_no_fault_with_the_package(typed, faces, tmp_path):
    """With the generated stubs in front of their modules, and those modules themselves."""
    shutil.copytree(typed, tmp_path / "copy")
    if faces == "sources":
        for stub in ("_verbs.pyi", "sklearn.pyi"):
            (tmp_path / "copy" / "drift" / stub).unlink()
    result = mypy("--config-file", "pyproject.toml", "-p", "drift", cwd=tmp_path / "copy")
    assert result.returncode == 0, result.stdout


RIGHT = """
import drift
import pandas as pd
import xarray as xr
from drift.sklearn import DriftRegressor
ds = drift.read("a.nc", value="sla")
model = drift.fit(ds, members=3, loss="huber", progress=True)
name: str = model.name
table = drift.compare(ds, ["drift", "nngp"], seeds=2)
frame = drift.Dataset.from_pandas(pd.DataFrame(), value="sla", unit="m")
made = drift.Dataset.from_xarray(xr.Dataset(), where=["flag == 0"])
regressor = DriftRegressor(members=3, coordinates="xy").fit([[0.0, 1.0]], [1.0], track=[1])
where: str = regressor.coordinates
"""

# Each with what mypy says of it.
WRONG = {
    "drift.fit(ds, member=3)": 'Unexpected keyword argument "member"',
    'drift.fit(ds, loss="hubber")': 'incompatible type "Literal[\'hubber\']"',
    'drift.fit(ds, members="3")': 'incompatible type "str"',
    'drift.Dataset.from_pandas(frame, vlue="x")': 'Unexpected keyword argument "vlue"',
    'drift.Dataset.from_xarray(frame, track_gap="x")': 'Unexpected keyword argument "track_gap"',
    "drift.Dataset([0.0], [0.0], [0.0], units=3)": 'Unexpected keyword argument "units"',
    "DriftRegressor(member=3)": 'Unexpected keyword argument "member"',
    "DriftRegressor(members=2.5)": 'incompatible type "float"',
}


def test_mypy_knows_the_settings_of_a_users_program(typed):
    (typed / "right.py").write_text(RIGHT)
    head = "import drift\nfrom typing import Any\nfrom drift.sklearn import DriftRegressor\nframe: Any\nds = drift.read('a.nc')\n"
    (typed / "wrong.py").write_text(head + "\n".join(WRONG))
    right = mypy("--config-file", typed / "pyproject.toml", "right.py", cwd=typed)
    assert right.returncode == 0, right.stdout
    found = mypy("--config-file", typed / "pyproject.toml", "wrong.py", cwd=typed).stdout
    for i, sentence in enumerate(WRONG.values()):
        said = [line for line in found.splitlines() if line.startswith(f"wrong.py:{i + 6}:")]
        assert any(sentence in line for line in said), (list(WRONG)[i], found)


# What pybind11's classes are beside what the stub says of them, and what the estimator has for scikit-learn alone.
ALLOWED = r"""
drift\._drift\.(Dataset|Grid|Job|Model|SettingInfo|Settings)(\.__init__)?
drift\.sklearn\.(validate_data|DriftRegressor\.__sklearn_is_fitted__)
"""


def test_the_stubs_have_what_the_modules_have(typed):
    (typed / "allowed").write_text(ALLOWED)
    words = [sys.executable, "-m", "mypy.stubtest", "drift._drift", "drift._verbs", "drift.sklearn", "--allowlist", "allowed", "--concise"]
    for module in PACKAGE.glob("*.so"):
        shutil.copy(module, typed / "drift")
    environment = {**os.environ, "PYTHONPATH": "", "LD_LIBRARY_PATH": str(PACKAGE.parents[1])}
    result = subprocess.run([*words, "--mypy-config-file", "pyproject.toml"], cwd=typed, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_functions_of_the_module_take_the_arguments_that_its_stub_names():
    """mypy cannot see them: pybind11 tells of them in docstrings alone."""
    tree = ast.parse((PACKAGE / "_drift.pyi").read_text())
    compared = 0
    for node in tree.body:
        members = [(drift._drift, node)] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            members = [(getattr(drift._drift, node.name), inner) for inner in node.body if isinstance(inner, ast.FunctionDef) and not inner.decorator_list]
        for owner, function in members:
            if function.name.startswith("__"):
                continue
            signature = getattr(owner, function.name).__doc__.splitlines()[0].split(" -> ")[0]
            has = re.findall(r"(\w+):", signature)
            said = [argument.arg for argument in function.args.args]
            assert len(has) == len(said), (function.name, has, said)
            assert all(a == b for a, b in zip(has, said) if not re.fullmatch(r"arg\d+", a)), (function.name, has, said)
            compared += len(said)
    assert compared > 80


@pytest.fixture
def pages(tmp_path, monkeypatch, small):
    """A folder with a file of the kind that the pages name. Fits and comparisons take the settings that a page gives, then quicker ones."""
    from drift import _keywords

    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracks").mkdir()
    seen = drift.simulate(days=3, observations=300, bbox=(-30, 30, 10, 60), seed=2)
    frame = seen.to_pandas().sort_values("time").rename(columns={"synthetic": "sla_filtered"})
    drift.Dataset.from_pandas(frame, value="sla_filtered", unit="m").save(tmp_path / "tracks" / "a.nc")
    fit, compare = drift.fit, drift.compare

    def quick_fit(data, *, progress=False, **settings):
        _keywords.apply(drift._drift.Settings(data._data.settings), "fit", settings)
        return fit(data, method="process", progress=progress, **({"out": settings["out"]} if "out" in settings else {}))

    def quick_compare(data, methods, **settings):
        return compare(data, methods, **{**settings, "seeds": 1, **{name: value for name, value in small.items() if name != "method"}})

    monkeypatch.setattr(drift, "fit", quick_fit)
    monkeypatch.setattr(drift, "compare", quick_compare)
    return frame


@pytest.mark.filterwarnings("ignore:.*lies .* days")
@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_the_examples_of_a_page_run(name, root, pages):
    """Every Python block, one after the other, with a grid for tests."""
    blocks = re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.DOTALL)
    assert len(blocks) >= {"docs/python.md": 8, "README.md": 1}[name]
    space = {}
    for block in blocks:
        exec(compile(block.replace("global:0.25", "global:15"), name, "exec"), space)


def test_a_wrong_setting_of_a_page_would_be_found(pages):
    with pytest.raises(drift.UsageError, match="fit has no setting 'member'"):
        drift.fit(drift.read("tracks/*.nc"), member=3)


@pytest.mark.filterwarnings("ignore:.*lies .* days", "ignore:.*lie more than")
def test_the_python_column_of_the_pages_table_runs(root, pages):
    """Every piece of code in it, row by row, with the data, the grid and the time that it names."""
    table = (root / "docs" / "python.md").read_text().split("## Every verb")[1].split("## ")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| `drift")]
    codes = [code for row in rows for code in re.findall(r"`([^`]+)`", row) if not code.startswith("python/")]
    ds = drift.read("tracks/*.nc")
    model = drift.fit(ds)
    field = model.predict("bbox:-10,35,10,45:5", "2020-03-02")
    frame = pages[["lon", "lat", "time"]].head()
    at = {"lon": [0.0], "lat": [40.0], "time": "2020-03-02"}
    space = {"drift": drift, "FILES": "tracks/*.nc", "G": "bbox:-10,35,10,45:5", "T": "2020-03-02", "ds": ds, "model": model, "field": field}
    space.update(at, frame=frame, observed=[1.0, 2.0], mean=[1.0, 1.5], sd=[0.5, 0.5])
    assert len(codes) > 15
    for code in codes:
        if "field.drift.plot" not in code or shutil.which("gmt") is not None:
            exec(compile(code, code, "exec"), space)
    assert pathlib.Path("m.safetensors").exists() and pathlib.Path("map.nc").exists()
