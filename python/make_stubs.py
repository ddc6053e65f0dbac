"""Writes drift/_verbs.pyi and drift/sklearn.pyi, the typed faces of those modules, with a keyword per setting, from the library's list.

    python3 make_stubs.py FOLDER      FOLDER holds the package drift, built
"""

import ast
import pathlib
import sys
import types

# The settings alone are wanted, not the package, which needs NumPy: pip builds wheels in an environment that has none.
folder = pathlib.Path(sys.argv[1])
package = types.ModuleType("drift")
package.__path__ = [str(folder / "drift")]
sys.modules["drift"] = package
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


def add_settings(arguments, verb):
    """Puts the settings of a verb in place of the keywords that take them all."""
    arguments.kwarg = None
    own = {a.arg for a in arguments.args + arguments.kwonlyargs}
    for name, info in _settings.of_verb(verb).items():
        if name not in own:
            arguments.kwonlyargs.append(ast.arg(name, ast.parse(type_of(info), mode="eval").body))
            arguments.kw_defaults.append(ast.Constant(...))


def declaration(function):
    arguments = function.args
    arguments.kw_defaults = [d if d is None or isinstance(d, ast.Constant) else ast.Constant(...) for d in arguments.kw_defaults]
    return f"def {function.name}({ast.unparse(arguments)}) -> {ast.unparse(function.returns)}: ..."


def public(nodes):
    return [node for node in nodes if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def verbs(source):
    lines = ["from ._dataset import Dataset", "from ._model import Model", "from ._progress import Progress"]
    for function in public(source.body):
        verb = next((d.args[0].value for d in function.decorator_list if isinstance(d, ast.Call)), None)
        if verb is not None:
            add_settings(function.args, verb)
        if function.name == "compare":
            function.returns = ast.parse("pandas.DataFrame", mode="eval").body
        lines.append(declaration(function))
    return lines


def estimator(source):
    (regressor,) = (node for node in source.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    initialiser = next(node for node in regressor.body if getattr(node, "name", "") == "__init__")
    initialiser.args.kwonlyargs.append(ast.arg("coordinates", ast.parse("str", mode="eval").body))
    initialiser.args.kw_defaults.append(ast.Constant(...))
    add_settings(initialiser.args, regressor.name)
    names = [argument.arg for argument in initialiser.args.kwonlyargs]
    bases = ", ".join(ast.unparse(base) for base in regressor.bases)
    return [
        "import numpy as np",
        "from sklearn.base import BaseEstimator, RegressorMixin",
        "from ._model import Model",
        f"class {regressor.name}({bases}):",
        *(f"    {name}: Any" for name in names),
        "    model_: Optional[Model]",
        "    small_: Any",
        "    coef_: np.ndarray",
        "    intercept_: float",
        *("    " + declaration(function) for function in [initialiser, *public(regressor.body)]),
    ]


def write(module, lines_of):
    lines = [
        "# Written by make_stubs.py from the library's list of settings.",
        "import os",
        "from typing import Any, Dict, List, Literal, Optional, Sequence, Tuple, Union",
        "import pandas",
        "_Path = os.PathLike[str]",
        *lines_of(ast.parse((folder / "drift" / f"{module}.py").read_text())),
    ]
    (folder / "drift" / f"{module}.pyi").write_text("\n".join(lines) + "\n")


write("_verbs", verbs)
write("sklearn", estimator)
