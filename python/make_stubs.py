"""Writes drift/_verbs.pyi, the typed face of drift/_verbs.py, with a keyword per setting, from the library's list of them.

    python3 make_stubs.py FOLDER      FOLDER holds the package drift, built
"""

import ast
import pathlib
import sys

# The settings alone are wanted, not the package: it is not whole until this file is there.
folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(folder))
from drift import _settings  # noqa: E402

TYPES = {
    "text": "str | _Path",
    "word": "str",
    "number": "float",
    "whole number": "int",
    "truth": "bool",
    "range": "tuple[float, float] | str",
    "box": "tuple[float, float, float, float] | str",
}


def type_of(info):
    kind = "Literal[" + ", ".join(repr(word) for word in info.words) + "]" if info.words else TYPES[info.type]
    return f"{kind} | Sequence[{kind}] | None" if info.repeats else f"{kind} | None"


def main():
    source = ast.parse((folder / "drift" / "_verbs.py").read_text())
    lines = [
        "# Written by make_stubs.py from the library's list of settings.",
        "import os",
        "from typing import Any, Dict, List, Literal, Optional, Sequence, Tuple, Union",
        "from ._dataset import Dataset",
        "from ._model import Model",
        "from ._progress import Progress",
        "import pandas",
        "_Path = os.PathLike[str]",
    ]
    for node in source.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        verb = next((d.args[0].value for d in node.decorator_list if isinstance(d, ast.Call)), None)
        arguments = node.args
        if verb is not None:
            arguments.kwarg = None
            own = {a.arg for a in arguments.args + arguments.kwonlyargs}
            for name, info in _settings.of_verb(verb).items():
                if name not in own:
                    arguments.kwonlyargs.append(ast.arg(name, ast.parse(type_of(info), mode="eval").body))
                    arguments.kw_defaults.append(ast.Constant(...))
        arguments.kw_defaults = [d if d is None or isinstance(d, ast.Constant) else ast.Constant(...) for d in arguments.kw_defaults]
        returns = "pandas.DataFrame" if node.name == "compare" else ast.unparse(node.returns)
        lines.append(f"def {node.name}({ast.unparse(arguments)}) -> {returns}: ...")
    (folder / "drift" / "_verbs.pyi").write_text("\n".join(lines) + "\n")


main()
