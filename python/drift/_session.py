"""Checkpoints of fits for which no file was named: a notebook whose fit was stopped resumes it by running the cell again."""

from __future__ import annotations

import atexit
import glob
import hashlib
import os
import secrets

# Unguessable, since others may write to the folder of temporary files too.
_STEM = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"drift-{secrets.token_hex(8)}")
_OWNER = os.getpid()
_LEAST_FREE = 2 << 30  # bytes: no checkpoint that nobody asked for fills a disk

STOPPED = (
    "stopped; the same fit resumes where it stopped, as long as this Python session lasts. A file for the model (out=) or a checkpoint (checkpoint=) keeps it longer"
)


def checkpoint(dataset: int, settings: str) -> str:
    """The file for fits of these observations by these settings, which no one else's have; empty: there is no room for one."""
    folder = os.path.dirname(_STEM)
    try:
        space = os.statvfs(folder)
    except OSError:
        return ""
    if not os.access(folder, os.W_OK) or space.f_bavail * space.f_frsize < _LEAST_FREE:
        return ""
    return f"{_STEM}-{dataset}-{hashlib.sha256(settings.encode()).hexdigest()[:16]}.checkpoint"


@atexit.register
def _clear() -> None:
    if os.getpid() == _OWNER:  # a fork leaves its parent's files alone
        for path in glob.glob(glob.escape(_STEM) + "-*"):
            os.unlink(path)
