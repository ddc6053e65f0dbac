"""Verdicts on claims, from results alone.

A claim compares two rows of one data set by a measure (`better` is claimed to be ahead of `worse`), seed by seed, since rows share
their data; or it says that the mean of a `row` lies `within` two numbers. With two data sets `better` is on the first and `worse`
on the second, and `within` is of the ratio of a row's numbers on the first and on the second; with another row as `to`, of their ratio.
"""

import math
from dataclasses import dataclass

from .description import listed
from .results import badness, mean_sd, measure, table_rows

HOLDS, FAILS, OPEN, MISSING = "holds", "does not hold", "undecided", "not measured"
# Student's t at 97.5 % by degrees of freedom: standard errors beyond which a paired difference is no chance, with so few seeds.
T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78}
ONE_SEED = {HOLDS: "so with one seed", FAILS: "not so with one seed"}


@dataclass
class Verdict:
    word: str
    evidence: str = ""
    seeds: int = 0


def number_text(value, digits=3):
    if value == 0.0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e6:
        return f"{value:.{digits - 1}e}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, places)}f}" if places < 7 else f"{value:.{digits - 1}e}"


def spread_text(mean, sd, count):
    """Mean ± sd, the mean to two digits of the sd, but never fewer than two digits nor more than four."""
    if count < 2 or sd == 0.0:
        return number_text(mean)
    if mean == 0.0:
        return f"0 ± {number_text(sd, 2)}"
    digits = math.floor(math.log10(abs(mean))) - math.floor(math.log10(sd)) + 2
    return f"{number_text(mean, min(4, max(2, digits)))} ± {number_text(sd, 2 if sd < abs(mean) else 1)}"


def by_seed(description, results, size, data, row, name):
    for table, worked, _, _ in table_rows(description, results, size, data):
        if table["name"] == row:
            return {record["seed"]: value for record in worked if (value := measure(record, name)) is not None}
    return {}


def verdict(description, results, claim, size):
    name, first, last = claim["measure"], listed(claim["data"])[0], listed(claim["data"])[-1]
    if "within" in claim:
        by = by_seed(description, results, size, first, claim["row"], name)
        if first != last or "to" in claim:
            base = by_seed(description, results, size, last, claim.get("to", claim["row"]), name)
            by = {seed: value / base[seed] for seed, value in by.items() if base.get(seed)}
        values = list(by.values())
        if not values:
            return Verdict(MISSING)
        mean, sd = mean_sd(values)
        low, high = claim["within"]
        word = HOLDS if low <= mean <= high else FAILS
        return Verdict(ONE_SEED[word] if len(values) == 1 else word, spread_text(mean, sd, len(values)), len(values))
    better = by_seed(description, results, size, first, claim["better"], name)
    worse = by_seed(description, results, size, last, claim["worse"], name)
    seeds = sorted(set(better) & set(worse))
    if not seeds:
        return Verdict(MISSING)
    text = " against ".join(spread_text(*mean_sd([one[seed] for seed in seeds]), len(seeds)) for one in (better, worse))

    def bad(value):
        ranked = badness(name, value)
        return value if ranked is None else ranked  # costs: the lower the better

    mean, sd = mean_sd([bad(worse[seed]) - bad(better[seed]) for seed in seeds])
    if mean == 0.0:
        return Verdict(OPEN, text, len(seeds))
    word = HOLDS if mean > 0.0 else FAILS
    if len(seeds) == 1:
        word = ONE_SEED[word]
    else:
        text += f"; paired difference {spread_text(mean, sd, len(seeds))}"
        if abs(mean) < T95.get(len(seeds) - 1, 2.5) * sd / math.sqrt(len(seeds)):
            word = OPEN
    return Verdict(word, text, len(seeds))
