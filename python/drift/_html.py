"""Small tables for notebooks."""

from __future__ import annotations

import html
from typing import Iterable, Tuple


def table(title: str, rows: Iterable[Tuple[str, str]]) -> str:
    """A heading and rows of a name and a text each."""
    body = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<div><strong>{html.escape(title)}</strong><table>{body}</table></div>"


def text(title: str, rows: Iterable[Tuple[str, str]]) -> str:
    """The same as lines of text."""
    return "\n".join([f"<{title}>"] + [f"  {name:<14}{line}" for name, line in rows])
