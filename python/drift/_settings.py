"""Settings as keywords, from the library's one list of them.

A setting's keyword is its flag: ``--held-out`` is ``held_out``. Everything that is said of one, its help, unit, default and words,
comes from the list; so do the checks and their sentences.
"""

from __future__ import annotations

import datetime
import functools
import os
import re
import sys
from typing import Any, Mapping

import numpy as np

from . import _arrays, _checks, _drift

# The tables of settings that each verb takes, and single flags of others, as the command has them.
_TABLES = {
    "read": ("data", "--threads", "--test", "--test-where"),
    "fit": ("", "domain", "split", "fit", "model", "train", "uncertainty", "tune", "output"),
    "compare": ("", "domain", "split", "model", "train", "uncertainty", "compare"),
}
# Observations are read before they are fitted, their test set with them; methods and folder are arguments of their own.
_NOT_OF = {"fit": ("--test", "--test-where"), "compare": ("--test", "--test-where", "--method", "--folder")}


def keyword(info: _drift.SettingInfo) -> str:
    """A setting's name in Python."""
    name = info.flag.lstrip("-").replace("-", "_")
    return name + "_" if name in ("from", "lambda") else name


def of_verb(verb: str) -> dict[str, _drift.SettingInfo]:
    """The settings of a verb by keyword, in the list's order."""
    tables, without = _TABLES[verb], _NOT_OF.get(verb, ())
    return {
        keyword(info): info
        for info in _drift.setting_infos()
        if info.flag and info.flag not in without and (info.table in tables or info.flag in tables)
    }


def apply(settings: _drift.Settings, verb: str, given: Mapping[str, Any]) -> _drift.Settings:
    """The settings with those given set, checked one by one and then all together."""
    known = of_verb(verb)
    for name, value in given.items():
        if name not in known:
            raise _drift.UsageError(f"{verb} has no setting '{name}'{_drift.did_you_mean(name, list(known))}")
        texts = _texts(name, known[name], value)
        if texts:
            settings.set(known[name], texts, name)
    settings.check()
    return settings


def _texts(name: str, info: _drift.SettingInfo, value: Any) -> list[str]:
    """A value as the command line would have it; none: the default."""
    if value is None:
        return []
    if info.type == "truth":
        if not isinstance(value, bool):
            raise _checks.refuse(name, "True or False", value)
        return ["true"] if value else []
    if info.type in ("range", "box"):
        count, separator = (2, ":") if info.type == "range" else (4, ",")
        if isinstance(value, str):
            return [value]
        return [separator.join(repr(number) for number in _checks.some_numbers(name, count, value))]
    if _checks.is_listing(value):
        if not info.repeats:
            raise _drift.UsageError(f"{name} takes one value, not {_checks.shown(value)}")
        return [_text(name, entry) for entry in value]
    return [_text(name, value)]


def _text(name: str, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (np.datetime64, datetime.date)):
        return _drift.iso_time(float(_arrays.times(name, value)[0][0]))
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise _drift.UsageError(f"{name} cannot be {_checks.shown(value)}")
    return repr(int(value)) if hasattr(value, "__index__") else repr(float(value))


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
    return re.sub(r"(?<!drift compare )--[a-z0-9-]+", lambda flag: _keywords().get(str(flag[0]), str(flag[0])), info.help)


@functools.lru_cache(maxsize=1)
def _keywords() -> dict[str, str]:
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
