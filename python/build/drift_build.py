"""The build backend of `pip install .` (PEP 517), written for this repository: it needs CMake, Ninja and no network.

A wheel holds the package, the extension module and libdrift itself, which the module finds beside it. What libdrift links besides
(oneDNN, OpenBLAS, netCDF, PROJ, ...) stays the system's: the wheel is for machines like the one that built it, and
check_libraries lists what it expects there. Options go through the environment: CMAKE_ARGS are passed on, DRIFT_BUILD_FOLDER is where
to compile, kept for the next time, DRIFT_BUILT names a build folder whose package is to be packed as it is.
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11 has no reader, but pip, which calls this, carries one
    from pip._vendor import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"].replace("-", "_")

# What a wheel may ask of the system, by the beginnings of names: drift's own dependencies and the C and C++ run-time libraries.
KNOWN_LIBRARIES = (
    "ld-linux", "libc.so", "libdl.so", "libgcc_s", "libgomp", "libm.so", "libpthread", "librt.so", "libstdc++",
    "libdeflate", "libdnnl", "libfmt", "libgif", "libhdf5", "libhwy", "libnetcdf", "libnlopt", "libopenblas", "libproj", "libtomlplusplus", "libz.so",
)  # fmt: skip


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(drift VERSION ([0-9.]+)", text).group(1)


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def metadata():
    """Of pyproject.toml's [project], as a wheel has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {requirement}" for requirement in project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()]
    return "\n".join(lines)


def compile_package(build):
    configure = [
        "cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "DRIFT_TESTS=OFF",
        "-D", "DRIFT_PYTHON=ON", "-D", f"DRIFT_PYTHON_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    run(*configure, *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    run("cmake", "--build", build, "--target", "drift_python", "--parallel", len(os.sched_getaffinity(0)))


def stage_package(build, stage):
    """The package alone as `make install` has it, with libdrift beside the module."""
    for part in ("python", "library"):
        run("cmake", "--install", build, "--prefix", stage / "prefix", "--component", part)
    (package,) = (module.parent for module in (stage / "prefix").rglob("drift/__init__.py"))
    package.rename(stage / "drift")
    (library,) = (file for file in (stage / "prefix").rglob("libdrift.so.*") if not file.is_symlink())
    soname = re.search(r"SONAME.*\[(.*)\]", readelf(library)).group(1)
    (stage / "drift" / soname).write_bytes(library.read_bytes())


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def readelf(path):
    return subprocess.run(["readelf", "--dynamic", str(path)], check=True, capture_output=True, text=True).stdout


def check_libraries(stage):
    """What the wheel's libraries need is beside them, or among drift's known dependencies; and no path of this machine is in them."""
    package = stage / "drift"
    for path in sorted(package.glob("*.so*")):
        text = readelf(path)
        for needed in re.findall(r"NEEDED.*\[(.*)\]", text):
            if not (package / needed).exists() and not needed.startswith(KNOWN_LIBRARIES):
                raise SystemExit(f"drift_build: {path.name} needs {needed}, which is neither in the wheel nor among drift's dependencies")
        for run_path in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text):
            if any(not part.startswith("$ORIGIN") for part in run_path.split(":") if part):
                raise SystemExit(f"drift_build: {path.name} looks for libraries in {run_path}")


def pack(stage, wheel, info):
    records = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, data, mode=0o644):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(data)}")
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for path in sorted((stage / "drift").rglob("*")):
            if path.is_file():
                add(path.relative_to(stage).as_posix(), path.read_bytes(), 0o755 if ".so" in path.name else 0o644)
        for name, text in info.items():
            add(f"{NAME}-{version()}.dist-info/{name}", text.encode())
        record = f"{NAME}-{version()}.dist-info/RECORD"
        archive.writestr(record, "\n".join(records + [f"{record},,", ""]))


def dist_info():
    wheel = f"Wheel-Version: 1.0\nGenerator: drift_build\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    return {"METADATA": metadata(), "WHEEL": wheel, "LICENSE": (ROOT / "LICENSE").read_text()}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, f"{NAME}-{version()}.dist-info")
    folder.mkdir()
    for name, text in dist_info().items():
        (folder / name).write_text(text)
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory() as scratch:
        built = os.environ.get("DRIFT_BUILT")
        build = built or os.environ.get("DRIFT_BUILD_FOLDER") or os.path.join(scratch, "build")
        if not built:
            compile_package(build)
        stage = pathlib.Path(scratch)
        stage_package(build, stage)
        check_libraries(stage)
        pack(stage, os.path.join(wheel_directory, name), dist_info())
    return name


def build_sdist(sdist_directory, config_settings=None):
    import tarfile

    name = f"{NAME}-{version()}"
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True).stdout.decode().split("\0")
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in filter(None, files):
            archive.add(ROOT / file, f"{name}/{file}", recursive=False)
    return name + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []
