"""Settings from the keywords that a caller gave."""

from __future__ import annotations

import datetime
import os
from typing import Any, Mapping

import numpy as np

from . import _arrays, _checks, _drift
from ._settings import of_verb


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
