"""Settings as keywords, from the library's one list of them.

A setting's keyword is its flag: ``--held-out`` is ``held_out``. Everything that is said of one, its help, unit, default and words,
comes from the list. Needs the module alone, not NumPy: make_stubs.py imports it while a wheel is being built, where there is none.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any

from . import _drift

# What Python's verbs take in another way than the command's, which has the settings themselves. Observations are read before they
# are fitted, their test set with them; methods and folder are arguments of their own; an estimator has neither files nor a choice
# of domain.
_NOT_OF = {
    "compare": ("--method", "--folder"),
    "DriftRegressor": ("--out", "--study", "--domain", "--crs", "--unit"),
}


def keyword(info: _drift.SettingInfo) -> str:
    """A setting's name in Python."""
    name = info.flag.lstrip("-").replace("-", "_")
    return name + "_" if name in ("from", "lambda") else name


def of_verb(verb: str) -> dict[str, _drift.SettingInfo]:
    """The settings of a verb by keyword, in the library's order."""
    infos = _drift.settings_of_verb("fit" if verb == "DriftRegressor" else verb)
    without = set(_NOT_OF.get(verb, ()))
    if verb != "read":
        without |= {info.flag for info in _drift.settings_of_verb("read") if info.table}  # seed and threads are in no table
    return {keyword(info): info for info in infos if info.flag not in without}


def type_text(info: _drift.SettingInfo) -> str:
    """Its type for a docstring: ``number``, ``{'squared', 'huber'}``, ``text or list``."""
    kind = "{" + ", ".join(f"'{word}'" for word in info.words) + "}" if info.words else _WORDS_OF_TYPES[info.type]
    return kind + " or list" if info.repeats else kind


_WORDS_OF_TYPES = {
    "text": "str",
    "word": "str",
    "number": "float",
    "whole number": "int",
    "truth": "bool",
    "range": "(low, high)",
    "box": "(lon0, lat0, lon1, lat1)",
}


_ROLES = ("value", "lon", "lat", "x", "y", "time", "sigma", "track", "platform", "preset")


def default_text(info: _drift.SettingInfo) -> str:
    """Its default for a docstring, or what stands in for one."""
    if info.fallback:
        return info.fallback
    if info.type == "truth":
        return "False"
    if info.table == "data" and info.key in _ROLES:
        return "recognised by names and metadata"
    if info.table == "domain" or (info.type in ("number", "whole number") and not info.repeats):
        return "chosen from the data and the other settings"
    return "none"


def help_text(info: _drift.SettingInfo) -> str:
    """Its help, with its unit; the command's flags among the words become keywords."""
    return in_python(info.help)


def in_python(text: str) -> str:
    """A sentence of the library's, the command's flags as keywords."""
    return re.sub(r"(?<!drift compare )--[a-z0-9-]+", lambda flag: _keyword_of_flag().get(str(flag[0]), str(flag[0])), text)


@functools.lru_cache(maxsize=1)
def _keyword_of_flag() -> dict[str, str]:
    return {info.flag: keyword(info) for info in _drift.setting_infos() if info.flag}


def describe(verb: str) -> str:
    """The settings of a verb as a section of a NumPy docstring."""
    lines = ["    Other Parameters", "    ----------------"]
    for name, info in of_verb(verb).items():
        lines += [f"    {name} : {type_text(info)}, default: {default_text(info)}", f"        {help_text(info)}."]
    return "\n".join(lines)


def documented(verb: str) -> Any:
    """Decorates a verb: its settings become part of its docstring and of its signature, for help() and for completion."""
    import inspect

    def decorate(function: Any) -> Any:
        function.__doc__ = (function.__doc__ or "").replace("    <settings>", describe(verb))
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        names = [name for name in of_verb(verb) if name not in signature.parameters]
        listed = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
        function.__signature__ = signature.replace(parameters=own + listed)
        return function

    # -OO leaves no docstrings to add to.
    return decorate if sys.flags.optimize < 2 else lambda function: function
