"""drift: continuous fields from scattered observations, with calibrated uncertainty.

>>> import drift
>>> ds = drift.simulate(days=2, observations=300, bbox=(-20, 30, 20, 50))  # or drift.read("tracks/*.nc", value="sla_filtered")
>>> model = drift.fit(ds, method="process")
>>> field = model.predict(grid="bbox:-10,35,10,45:1", time="2020-03-02")
>>> sorted(model.predict_at([0.0], [40.0], "2020-03-02"))[:2] == [model.name, model.name + "_lower90"]
True
"""

from ._drift import Error, Stopped, UsageError, __version__
from ._dataset import Dataset
from . import _register
from ._model import Model
from ._verbs import compare, fit, load, methods, plan, read, score, simulate, verify

__all__ = [
    "Dataset",
    "Error",
    "Model",
    "Stopped",
    "UsageError",
    "__version__",
    "compare",
    "fit",
    "load",
    "methods",
    "plan",
    "read",
    "score",
    "simulate",
    "verify",
]

_register.accessor()
