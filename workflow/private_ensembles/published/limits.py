"""What follows of printed numbers without data: the least and the largest that each could be.

A paper's YAML in ``workflow/published`` refers to them by name. Every function takes a printed
number (where it is printed, by the names of `Key`) and returns its limits, or one number if that is
what follows. What papers state of their own mathematics is limited by the functions in
``statements_of_*``.
"""

import math
import re
from collections.abc import Mapping

from private_ensembles.darrm.error import error_at
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.dpbag.budget import affordable, epsilon
from private_ensembles.published.printed import FOLDER, read_published

# What DPBag's printed counts are made of: the delta of the authors' code, and lambda = 2 / n.
DELTA_OF_COUNTS, NOISE, ORDER_MAX = 1e-3, 2, 80
# Street View House Numbers (Netzer et al., 2011), without its extra images.
SVHN_TRAIN, SVHN_TEST = 73257, 26032
# What PATE and NZC print of their task on it.
SVHN_POOL, SVHN_DELTA, SVHN_SCALE = 10000, 1e-6, 20
SVHN_CONFIDENT = {"queries": 8500, "threshold": 300, "sigma1": 200, "sigma2": 40}

# One number is both.
Limits = tuple[float, float] | float


def of_the_stated_accounting(cell: Mapping[str, str]) -> Limits:
    """A label costs 1/4 to 1 of what SAA's does: m^2, where m is the larger of two shares.

    Let A be the largest sum of m^2 that the budget allows. N labels are the first beyond it: some
    record has spent more than A, and none had after N - 1. So A < N <= 4 A + 1, and, beside the N'
    and A' of a smaller budget, A - A' < N - N' + 1 and N - N' - 1 < 4 (A - A').
    """
    allowed = _allowed(cell)
    low, high = math.floor(allowed) + 1, math.floor(4 * allowed) + 1
    for smaller, printed in _smaller_budgets(cell):
        more = allowed - _allowed(smaller)
        low = max(low, printed + math.floor(more))
        high = min(high, printed + math.ceil(4 * more))
    return low, high


def _allowed(cell: Mapping[str, str]) -> float:
    n = int(re.search(r"n=(\d+)", cell["row"]).group(1))
    return affordable(_budget(cell), NOISE / n, DELTA_OF_COUNTS, ORDER_MAX)


def _budget(cell: Mapping[str, str]) -> float:
    return float(cell["column"].split("=")[1])


def _smaller_budgets(cell: Mapping[str, str]) -> list[tuple[Mapping[str, str], int]]:
    """Return the counts that are printed in the same row for smaller budgets."""
    table = read_published([FOLDER / f"{cell['paper']}_{cell['item']}.csv"])
    cells = table[table["row"] == cell["row"]].to_dict("records")
    return [(other, int(other["published"])) for other in cells if _budget(other) < _budget(cell)]


def size_of_svhn(cell: Mapping[str, str]) -> Limits:
    """The public files' images, and what NZC's pool of 10,000 test images leaves of them."""
    sizes = {
        "n_train_thousands": SVHN_TRAIN / 1000,
        "student_images": SVHN_TEST,
        "pool": SVHN_POOL,
        "evaluated": SVHN_TEST - SVHN_POOL,
    }
    return sizes[cell["column"]]


def number_of_queries(cell: Mapping[str, str]) -> Limits:
    """A row's own number of labels; NZC answers the whole pool."""
    asked = re.search(r"lnmax-(\d+)", cell["row"])
    return int(asked.group(1)) if asked else SVHN_POOL


def lnmax_of_pate(cell: Mapping[str, str]) -> Limits:
    """PATE 2017's moments 1 to 8: labels that cost nothing, and labels no two teachers agree on."""
    labels, noise = int(cell["row"].split("-")[1]), 1 / SVHN_SCALE
    costs, _ = epsilon([0, labels], noise, SVHN_DELTA, 8)
    return tuple(costs.tolist())


def confident_of_pate(cell: Mapping[str, str]) -> Limits:
    """Appendix B.6's way at the printed order: the thresholds alone, and the costliest answers.

    A threshold costs order / (2 sigma1^2) whatever the votes, an answer 0 to order / sigma2^2; the
    conversion adds ln(1 / delta) / (order - 1).
    """
    task = SVHN_CONFIDENT
    order = _printed("table2", cell, "order")
    answered = _printed("table1", cell, "answered")
    least = order * task["queries"] / (2 * task["sigma1"] ** 2)
    least -= math.log(SVHN_DELTA) / (order - 1)
    return least, least + order * answered / task["sigma2"] ** 2


def error_without_a_majority(cell: Mapping[str, str]) -> Limits:
    """DaRRM's error if every teacher says 1 half of the time, with one gamma less another's.

    At that probability the gammas do not matter, which is the point: those of subsampling serve for
    the optimised ones.
    """
    probability = float(cell["row"].removeprefix("p="))
    of_three, of_five = (error_at(gamma_subsampling(11, m), probability) for m in (3, 5))
    return of_three - of_five


def _printed(item: str, cell: Mapping[str, str], column: str) -> float:
    table = read_published([FOLDER / f"pate_{item}.csv"])
    place = (table["dataset"] == cell["dataset"]) & (table["row"] == cell["row"])
    (digits,) = table.loc[place & (table["column"] == column), "published"]
    return float(digits)
