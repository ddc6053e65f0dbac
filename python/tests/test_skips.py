"""What the tests do where something that they need is missing."""

import os
import shutil
import subprocess
import sys

import pytest

TESTS = """
import pytest

def test_with_a_module_that_is_missing():
    pytest.importorskip("a_module_that_nobody_has")

def test_that_passes():
    pass
"""


@pytest.mark.parametrize("where", ["test", "file"])
@pytest.mark.parametrize("required", [False, True])
def test_a_missing_module_fails_where_every_test_must_run(required, where, root, tmp_path):
    shutil.copy(root / "python" / "tests" / "conftest.py", tmp_path)
    whole = "import pytest\npytest.importorskip('a_module_that_nobody_has')\n" if where == "file" else ""
    (tmp_path / "test_inner.py").write_text(whole + TESTS)
    environment = {k: v for k, v in os.environ.items() if k != "DRIFT_ALL_PYTHON_TESTS"}
    if required:
        environment["DRIFT_ALL_PYTHON_TESTS"] = "1"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_inner.py"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ("a_module_that_nobody_has" in done.stdout and "although" in done.stdout) == required, done.stdout
    if required:
        assert done.returncode != 0 and "skipped, although DRIFT_ALL_PYTHON_TESTS is set" in done.stdout
    else:
        assert done.returncode in (0, 5) and "1 skipped" in done.stdout  # 5: the file had no other test
