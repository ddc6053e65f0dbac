"""make install, the wheel, and pip install ."""

import email
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import drift

PACKAGE = pathlib.Path(drift.__file__).parent


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


@pytest.fixture
def stage(root, tmp_path):
    """A folder as of a wheel, and what puts a library into it that links others, with a run path."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "drift").mkdir()
    (tmp_path / "a.c").write_text("int a(void) { return 1; }")
    subprocess.run([cc, "-shared", "-fPIC", "a.c", "-o", "libodd.so.1", "-Wl,-soname,libodd.so.1"], cwd=tmp_path, check=True)

    def make(*linked, run_path="$ORIGIN"):
        words = [cc, "-shared", "-fPIC", "a.c", "-o", "drift/_drift.so", "-Wl,--no-as-needed", *linked, f"-Wl,-rpath,{run_path}"]
        subprocess.run(words, cwd=tmp_path, check=True)
        return tmp_path

    return make


def test_a_wheel_that_needs_what_it_does_not_carry_is_refused(root, stage, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "python" / "build"))
    import drift_build

    drift_build.check_libraries(stage("-lm"))
    with pytest.raises(SystemExit, match="_drift.so needs libodd.so.1, which is neither in the wheel nor among drift's dependencies"):
        drift_build.check_libraries(stage("./libodd.so.1"))
    shutil.copy(stage() / "libodd.so.1", stage("./libodd.so.1") / "drift")
    drift_build.check_libraries(stage("./libodd.so.1"))
    with pytest.raises(SystemExit, match="_drift.so looks for libraries in .*/home/me/build"):
        drift_build.check_libraries(stage(run_path="$ORIGIN:/home/me/build"))


def test_the_stubs_are_written_without_numpy(root, tmp_path):
    """As pip builds a wheel: in an environment of its own, without the packages of the interpreter that asked for it."""
    shutil.copytree(PACKAGE, tmp_path / "drift", ignore=shutil.ignore_patterns("*.pyi", "__pycache__"))
    block = "import runpy, sys; sys.modules['numpy'] = None; sys.argv = ['make_stubs.py', '.']; runpy.run_path(sys.path.pop())"
    words = [sys.executable, "-B", "-c", f"import sys; sys.path.append({str(root / 'python' / 'make_stubs.py')!r}); {block}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "members: int | None=..." in (tmp_path / "drift" / "_verbs.pyi").read_text()


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


@pytest.fixture
def built():
    """The folder of a build with the package."""
    folder = os.environ.get("DRIFT_BUILD_FOLDER", "")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        pytest.skip("DRIFT_BUILD_FOLDER does not name a build")
    return folder


class Fresh:
    """A virtual environment that has the system's packages, but not the one under test."""

    offline = ("--no-index", "--disable-pip-version-check")

    def __init__(self, folder):
        self.folder, self.python = folder / "fresh", folder / "fresh" / "bin" / "python"
        self.run("-m", "venv", "--system-site-packages", self.folder, python=sys.executable)

    def run(self, *words, python=None, **environment):
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DRIFT_BUILD_FOLDER", "LD_PRELOAD")}
        words = [str(word) for word in (python or self.python, *words)]
        subprocess.run(words, check=True, cwd=self.folder.parent, env={**clean, **environment})

    def uses_drift(self):
        """From there, libdrift included."""
        script = (
            "import drift, sys\n"
            "assert drift.__file__.startswith(sys.argv[1]), drift.__file__\n"
            "ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50))\n"
            "model = drift.fit(ds, method='process')\n"
            "print(model.predict('bbox:-10,35,10,45:5')[ds.name].shape)\n"
            "maps = [line.split()[-1] for line in open('/proc/self/maps') if 'libdrift' in line]\n"
            "assert maps and all(m.startswith(sys.argv[1]) for m in maps), maps\n"
        )
        self.run("-c", script, self.folder)


@pytest.fixture
def fresh(tmp_path):
    return Fresh(tmp_path)


def test_a_wheel_installs_into_a_fresh_environment_and_works_there(root, built, fresh, tmp_path):
    alone = ("--no-deps", "--no-build-isolation")
    fresh.run("-m", "pip", "wheel", *fresh.offline, *alone, "-w", tmp_path, root, python=sys.executable, DRIFT_BUILT=built)
    (wheel,) = tmp_path.glob("*.whl")
    fresh.run("-m", "pip", "install", *fresh.offline, *alone, wheel)
    fresh.uses_drift()


def test_pip_install_compiles_the_package_and_installs_it(root, built, fresh):
    """As a user types it. All of the library is compiled, with little optimisation, in a folder that is kept for the next time."""
    if not os.environ.get("DRIFT_ALL_PYTHON_TESTS"):
        pytest.skip("it compiles the library once more; with DRIFT_ALL_PYTHON_TESTS=1 it runs")
    folder = {"DRIFT_BUILD_FOLDER": os.path.join(built, "wheel"), "CMAKE_ARGS": "-D CMAKE_CXX_FLAGS_RELEASE=-O1"}
    fresh.run("-m", "pip", "install", *fresh.offline, root, **folder)
    fresh.uses_drift()
