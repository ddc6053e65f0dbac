"""Arguments of wrong types, told in one sentence; warnings that point at the user's own line."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, TypeVar

import numpy as np

from . import _drift

Function = TypeVar("Function", bound=Callable[..., Any])


def shown(value: Any) -> str:
    """A value and its type, for a message."""
    text = repr(value)
    return f"{text if len(text) <= 60 and chr(10) not in text else text.split(chr(10))[0][:57] + '...'} ({type(value).__name__})"


def refuse(name: str, wanted: str, value: Any) -> "_drift.UsageError":
    """The exception for a value of a wrong type."""
    return _drift.UsageError(f"{name} must be {wanted}, not {shown(value)}")


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)) and np.ndim(value) == 0


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, np.bool_, str)) and np.ndim(value) == 0


# What an annotation asks for: a test, and its words.
_KINDS: Mapping[str, Tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "bool": (lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    "int": (_is_whole, "a whole number"),
    "float": (_is_number, "a number"),
    "Progress": (lambda value: isinstance(value, (bool, np.bool_)) or callable(value), "True, False or a function"),
}


def _test_of(annotation: str) -> Optional[Tuple[Callable[[Any], bool], str]]:
    if annotation.startswith("Optional["):
        kind = _KINDS.get(annotation[len("Optional[") : -1])
        if kind is None:
            return None
        test, words = kind
        return lambda value: value is None or test(value), words
    return _KINDS.get(annotation)


def typed(function: Function) -> Function:
    """Decorates a public function: arguments must have the names and the types of its signature, else a UsageError says which has not.

    What the extension module still refuses, such as a negative seed, becomes a UsageError too.
    """
    parameters = list(inspect.signature(function).parameters.values())
    tests = {p.name: test for p in parameters if (test := _test_of(str(p.annotation))) is not None}
    names = [p.name for p in parameters]
    takes_all = bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)  # settings, which have checks of their own
    called = function.__qualname__.replace(".__init__", "").split(".")[-1]

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        for name in () if takes_all else options:
            if name not in names:
                known = [known for known in names if known not in ("self", "cls") and not known.startswith("_")]
                raise _drift.UsageError(f"{called} has no argument '{name}'{_drift.did_you_mean(name, known)}")
        for name, value in (*zip(names, args), *options.items()):
            test = tests.get(name)
            if test is not None and not test[0](value):
                raise refuse(name, test[1], value)
        try:
            return function(*args, **options)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
            given = ", ".join(f"{name}={shown(value)}" for name, value in (*zip(names, args), *options.items()) if name != "self")
            raise _drift.UsageError(f"{called} cannot take {given}: a number is out of range or of the wrong type") from None

    return wrapper  # type: ignore[return-value]


def path(name: str, value: Any) -> str:
    """A path as a text."""
    if not isinstance(value, (str, os.PathLike)):
        raise refuse(name, "a path", value)
    return str(os.fspath(value))


def texts(name: str, value: Any) -> List[str]:
    """One text, or several."""
    if isinstance(value, str):
        return [value]
    if not is_listing(value) or not all(isinstance(entry, str) for entry in value):
        raise refuse(name, "a text or a list of texts", value)
    return [str(entry) for entry in value]


def is_listing(value: Any) -> bool:
    """Several values rather than one."""
    return not isinstance(value, (str, bytes, os.PathLike)) and hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0


def some_numbers(name: str, count: int, value: Any) -> Tuple[float, ...]:
    """So many numbers."""
    entries = list(value) if is_listing(value) else []
    if len(entries) != count or not all(_is_number(entry) for entry in entries):
        raise refuse(name, f"{ {2: 'two', 4: 'four'}.get(count, count)} numbers", value)
    return tuple(float(entry) for entry in entries)


def dataset(name: str, value: Any) -> "_drift.Dataset":
    """The observations of a drift.Dataset."""
    from ._dataset import Dataset

    if not isinstance(value, Dataset):
        raise _drift.UsageError(
            f"{name} must be a drift.Dataset, not a {type(value).__name__}; drift.read, drift.Dataset.from_pandas and from_xarray make one"
        )
    return value._data


def warn(sentence: str, category: type[Warning] = UserWarning) -> None:
    """A warning that points at the first line outside this package."""
    package, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)
