"""Types, examples in docstrings and pages, notebooks, and the wheel."""

import doctest
import email
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

    functions = [getattr(drift, name) for name in drift.__all__ if callable(getattr(drift, name)) and not isinstance(getattr(drift, name), type)]
    functions += [drift.Dataset, drift.Model, drift.Dataset.from_pandas, drift.Dataset.from_xarray, _accessor.FieldAccessor.plot]
    functions += [drift.Model.predict, drift.Model.predict_at, drift.Model.score, drift.Model.save]
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


def test_the_wheels_metadata_are_those_of_pyproject(root):
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    sys.path.insert(0, str(root / "python" / "build"))
    try:
        import drift_build
    finally:
        sys.path.pop(0)
    fields = email.message_from_string(drift_build.metadata())
    assert (fields["Name"], fields["Summary"], fields["Requires-Python"]) == (project["name"], project["description"], project["requires-python"])
    assert fields["Version"] == drift.__version__
    optional = [f'{name}; extra == "all"' for name in project["optional-dependencies"]["all"]]
    assert fields.get_all("Requires-Dist") == project["dependencies"] + optional


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


def test_mypy_finds_no_fault_with_the_package(typed):
    result = mypy("--config-file", typed / "pyproject.toml", "-p", "drift", cwd=typed)
    assert result.returncode == 0, result.stdout


def test_mypy_knows_the_settings_of_a_users_program(typed):
    (typed / "right.py").write_text(
        'import drift\nds = drift.read("a.nc", value="sla")\nmodel = drift.fit(ds, members=3, loss="huber", progress=True)\n'
        'name: str = model.name\ntable = drift.compare(ds, ["drift", "nngp"], seeds=2)\n'
    )
    (typed / "wrong.py").write_text('import drift\nds = drift.read("a.nc")\ndrift.fit(ds, member=3)\ndrift.fit(ds, loss="hubber")\ndrift.fit(ds, members="3")\n')
    right = mypy("--config-file", typed / "pyproject.toml", "right.py", cwd=typed)
    assert right.returncode == 0, right.stdout
    wrong = mypy("--config-file", typed / "pyproject.toml", "wrong.py", cwd=typed).stdout
    assert 'Unexpected keyword argument "member"' in wrong and "wrong.py:4" in wrong and "wrong.py:5" in wrong


def test_the_stub_of_the_module_names_what_the_module_has(typed):
    result = subprocess.run(
        [sys.executable, "-c", "import ast, sys, drift._drift as m; tree = ast.parse(open(sys.argv[1]).read())\n"
         "named = {n.name for n in tree.body if hasattr(n, 'name')}\n"
         "has = {n for n in dir(m) if not n.startswith('_')}\n"
         "assert named == has, (named - has, has - named)\n"
         "for node in tree.body:\n"
         "    if isinstance(node, ast.ClassDef) and node.name not in ('Error', 'UsageError', 'Stopped'):\n"
         "        named = {n.name for n in node.body if hasattr(n, 'name') and not n.name.startswith('_')}\n"
         "        has = {n for n in dir(getattr(m, node.name)) if not n.startswith('_')}\n"
         "        assert named == has, (node.name, named - has, has - named)\n", str(PACKAGE / "_drift.pyi")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


@pytest.mark.filterwarnings("ignore:.*lies .* days")
@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_the_examples_of_a_page_run(name, root, tmp_path, monkeypatch):
    """Every Python block, one after the other, on a small file of the kind that it names, with a grid and a method for tests."""
    blocks = re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.DOTALL)
    assert len(blocks) >= {"docs/python.md": 8, "README.md": 1}[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracks").mkdir()
    seen = drift.simulate(days=3, observations=300, bbox=(-30, 30, 10, 60), seed=2)
    frame = seen.to_pandas().sort_values("time").rename(columns={"synthetic": "sla_filtered"})
    drift.Dataset.from_pandas(frame, value="sla_filtered", unit="m").save(tmp_path / "tracks" / "a.nc")
    pytest.importorskip("matplotlib").use("Agg")
    fit = drift.fit
    monkeypatch.setattr(drift, "fit", lambda data, **settings: fit(data, method="process"))
    space = {}
    for block in blocks:
        exec(compile(block.replace("global:0.25", "global:15"), name, "exec"), space)


@pytest.mark.parametrize("name", sorted(p.name for p in (pathlib.Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb")))
def test_a_notebook_runs_from_top_to_bottom(name, root, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(root / "examples" / name, as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs if "image/png" in o.get("data", {})]
    assert pictures, "a notebook without a figure"


def test_make_install_puts_the_package_where_debians_python_finds_it(root, tmp_path):
    """Staged: under the prefix /usr/local of a folder of its own, which stands in for the root."""
    built = os.environ.get("DRIFT_BUILD_FOLDER", "")
    if not os.path.exists(os.path.join(built, "build.ninja")):
        pytest.skip("DRIFT_BUILD_FOLDER does not name a build")
    for part in ("python", "library"):
        words = ["cmake", "--install", built, "--prefix", "/usr/local", "--component", part]
        subprocess.run(words, check=True, env={**os.environ, "DESTDIR": str(tmp_path)}, stdout=subprocess.DEVNULL)
    (module,) = tmp_path.rglob("drift/__init__.py")
    folder = "/" + str(module.parents[1].relative_to(tmp_path))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    looked = subprocess.run([sys.executable, "-c", "import sys; print(*sys.path, sep='\\n')"], env=environment, capture_output=True, text=True)
    assert folder in looked.stdout.splitlines() or not os.path.isdir(folder)  # site leaves out folders that are not there
    known = subprocess.run([sys.executable, "-c", "import site; print(*site.getsitepackages(), sep='\\n')"], env=environment, capture_output=True, text=True)
    assert folder in known.stdout.splitlines()
    script = "import drift; print(drift.__file__, [line.split()[-1] for line in open('/proc/self/maps') if 'libdrift' in line][0])"
    done = subprocess.run([sys.executable, "-c", script], env={**environment, "PYTHONPATH": str(module.parents[1])}, capture_output=True, text=True)
    assert done.returncode == 0 and all(path.startswith(str(tmp_path)) for path in done.stdout.split()), done.stderr + done.stdout


def test_a_wheel_installs_into_a_fresh_environment_and_works_there(root, tmp_path):
    built = os.environ.get("DRIFT_BUILD_FOLDER", "")
    if not os.path.exists(os.path.join(built, "build.ninja")):
        pytest.skip("DRIFT_BUILD_FOLDER does not name a build")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DRIFT_BUILD_FOLDER", "LD_PRELOAD")}
    run = lambda *words, **more: subprocess.run([str(w) for w in words], check=True, cwd=tmp_path, env={**environment, **more})  # noqa: E731
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *offline, "-w", tmp_path, root, DRIFT_BUILT=built)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "fresh")
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", *offline, wheel)
    script = (
        "import drift, sys\n"
        "assert drift.__file__.startswith(sys.argv[1]), drift.__file__\n"
        "ds = drift.simulate(days=2, observations=500, bbox=(-20, 30, 20, 50))\n"
        "model = drift.fit(ds, method='process')\n"
        "print(model.predict('bbox:-10,35,10,45:5')[ds.name].shape)\n"
        "maps = [line.split()[-1] for line in open('/proc/self/maps') if 'libdrift' in line]\n"
        "assert maps and all(m.startswith(sys.argv[1]) for m in maps), maps\n"
    )
    run(python, "-c", script, tmp_path / "fresh")
