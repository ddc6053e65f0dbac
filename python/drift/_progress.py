"""How long work shows itself: a bar of tqdm's, a line, or a function of the caller's."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Any, Callable, Union

from . import _drift

Progress = Union[bool, Callable[[float, str], None]]

logger = logging.getLogger("drift")


class _Bar:
    """tqdm's bar, a notebook's own in a notebook; without tqdm, a line on stderr."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None
        try:
            import tqdm
            import tqdm.auto
        except ImportError:
            return
        options = {"total": 100, "desc": title, "bar_format": "{desc} {percentage:3.0f} %|{bar}| {elapsed}{postfix}", "leave": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without ipywidgets gets the bar of text
            try:
                self._bar = tqdm.auto.tqdm(**options)
            except Exception:  # and so does one with ipywidgets older than version 7, at which tqdm fails
                self._bar = tqdm.tqdm(**options)

    def __call__(self, share: float, what: str) -> None:
        if self._bar is None:
            sys.stderr.write(f"\r{self._title} {100 * share:3.0f} %  {what:<40.40}")
            sys.stderr.flush()
            return
        self._bar.set_postfix_str(what, refresh=False)
        self._bar.update(100 * share - self._bar.n)

    def close(self) -> None:
        if self._bar is None:
            sys.stderr.write("\n")
        else:
            self._bar.close()


class Job:
    """``with Job(...) as job``: what the module's long functions take."""

    def __init__(self, title: str, progress: Progress = False, **options: Any) -> None:
        self._title, self._progress, self._options = title, progress, options
        self._bar: Any = None

    def __enter__(self) -> _drift.Job:
        if callable(self._progress):
            shown: Any = self._progress
        elif self._progress:
            shown = self._bar = _Bar(self._title)
        else:
            shown = None
        return _drift.Job(progress=shown, say=_say if logger.isEnabledFor(logging.INFO) else None, **self._options)

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()


def _say(sentence: str) -> None:
    logger.info(sentence.strip())
