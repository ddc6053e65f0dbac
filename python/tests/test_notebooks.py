"""The notebooks of examples/ run, and show what running them gives."""

import pathlib
import re

import pytest

nbformat = pytest.importorskip("nbformat")

NUMBER = re.compile(r"(?<![\w.:+-])[-+]?\d[\d,]*(?:\.\d*)?(?:e[-+]?\d+)?(?![\w:])")
OF_THE_DAY = re.compile(r"^ *(history|date_created|date_modified|model_sha256)\b.*$", re.MULTILINE)


def texts_of(cell):
    """What a cell printed or returned, without what is of the day on which it ran."""
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", [])]
    return OF_THE_DAY.sub("", "\n".join(texts))


def numbers_of(text):
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def differences(kept, now):
    """Cells whose words differ, or whose numbers by more than rounding on another machine explains."""
    found = []
    for before, after in zip(kept.cells, now.cells):
        if before.cell_type != "code":
            continue
        old, new = texts_of(before), texts_of(after)
        same_words = NUMBER.sub("#", old).split() == NUMBER.sub("#", new).split()
        pairs = zip(numbers_of(old), numbers_of(new))
        if not same_words or any(abs(a - b) > 0.02 * max(abs(a), abs(b)) + 0.0011 for a, b in pairs):
            found.append(f"{before.source}\n--- kept\n{old}\n--- now\n{new}")
    return found


def run_notebook(book, folder):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return book


@pytest.mark.parametrize("name", sorted(p.name for p in (pathlib.Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb")))
def test_a_notebook_runs_and_gives_what_it_shows(name, root, tmp_path):
    kept = nbformat.read(root / "examples" / name, as_version=4)
    now = run_notebook(nbformat.read(root / "examples" / name, as_version=4), tmp_path)
    pictures = [o for cell in now.cells if cell.cell_type == "code" for o in cell.outputs if "image/png" in o.get("data", {})]
    assert pictures, "a notebook without a figure"
    stale = differences(kept, now)
    assert not stale, "stale outputs; examples/README.md tells how to run the notebooks again\n" + "\n\n".join(stale)


def test_a_stale_output_of_a_notebook_is_found():

    def book(text):
        output = nbformat.v4.new_output("stream", text=text)
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=[output])])

    kept = "noise sd 0.0897 of 1,052 observations\nhistory: 2020\n"
    assert not differences(book(kept), book("noise sd 0.0899 of 1,053 observations\nhistory: 2021, twice\n"))
    for stale in ("noise sd 0.103 of 1,052 observations\n", "noise sd 0.0897 of 1,152 observations\n", "sd 0.0897 of 1,052 observations\n"):
        assert differences(book(kept), book(stale))


# What tqdm asks of ipywidgets, by versions of which it can and cannot make its bar: Debian 12 has the old one.
WIDGETS = """
class Widget:
    def __init__(self, *args, children=(), **options):
        self.children, self.layout, self.value, self.max = list(children), type("Layout", (), {})(), 0, 1
        self.bar_style = ""
        HAS_STYLE

    def _repr_mimebundle_(self, *args, **options):
        return {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "a widget"}

    def close(self):
        pass

FloatProgress = HBox = HTML = Widget
__version__ = "VERSION"
"""


@pytest.mark.parametrize("version, is_widget", [("8.0.0", True), ("6.0.0", False)])
def test_a_notebook_has_a_bar_of_its_own_if_its_widgets_are_new_enough(version, is_widget, tmp_path):
    pytest.importorskip("tqdm")
    style = 'self.style = type("Style", (), {})()' if is_widget else "pass"
    (tmp_path / "ipywidgets.py").write_text(WIDGETS.replace("HAS_STYLE", style).replace("VERSION", version))
    source = "import drift\nds = drift.simulate(days=1, observations=300, bbox=(-20, 30, 20, 50), progress=True)"
    book = run_notebook(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]), tmp_path)
    kinds = {kind for output in book.cells[0].outputs for kind in output.get("data", {})}
    text = "".join(output.get("text", "") for output in book.cells[0].outputs)
    assert ("application/vnd.jupyter.widget-view+json" in kinds) if is_widget else ("Simulating" in text), book.cells[0].outputs
