"""What follows without data: limits worked out by hand, and printed numbers within them or not."""

import math

import pytest
import yaml

from private_ensembles.papers.compare.comparison import compare
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.run.check import check

PRINTED = read_published(FOLDER.glob("*.csv"))
# Street View House Numbers (Netzer et al., 2011), without its extra images.
SVHN_TRAIN, SVHN_TEST = 73257, 26032


def cells(name, item, **where):
    table = PRINTED[(PRINTED["paper"] == name) & (PRINTED["item"] == item)]
    for column, value in where.items():
        table = table[table[column].str.match(value)]
    return table.to_dict("records")


def counts():
    for item in ("table2", "table4"):
        yield from cells("dpbag", item, row="DPBag n")


def spend(epsilon, n):
    """The largest sum of m^2 within the budget: max over l of (epsilon l - ln 1000) / cost."""
    orders = range(1, 81)
    return max((epsilon * l - math.log(1000)) / (2 * (2 / n) ** 2 * l * (l + 1)) for l in orders)


def labels_of_stated_accounting(cell):
    """A label costs 1/4 to 1 of what SAA's does: m^2, where m is the larger of two shares.

    Let A be the largest sum of m^2 that the budget allows. N labels are the first beyond it: some
    record has spent more than A, and none had after N - 1. So A < N <= 4 A + 1, and, beside the N'
    and A' of a smaller budget, A - A' < N - N' + 1 and N - N' - 1 < 4 (A - A').
    """
    n, epsilon = int(cell["row"].split()[1][2:]), int(cell["column"][-1])
    allowed = spend(epsilon, n)
    low, high = math.floor(allowed) + 1, math.floor(4 * allowed) + 1
    row = cells("dpbag", cell["item"], row=f"{cell['row']}$", column="labels")
    for smaller in (other for other in row if int(other["column"][-1]) < epsilon):
        more = allowed - spend(int(smaller["column"][-1]), n)
        low = max(low, int(smaller["published"]) + math.floor(more))
        high = min(high, int(smaller["published"]) + math.ceil(4 * more))
    return low, high


def test_thirty_seven_counts_of_heart_failure_are_possible_and_two_are_not():
    impossible = []
    for cell in counts():
        low, high = labels_of_stated_accounting(cell)
        assert (low, high) == (int(cell["low"]), int(cell["high"]))
        if not low <= int(cell["published"]) <= high:
            where = cell["item"], cell["row"], int(cell["column"][-1])
            impossible.append((*where, int(cell["published"]), low))
    assert [entry[:4] for entry in impossible] == [
        ("table2", "DPBag n=250 k=50", 5, 6380),
        ("table2", "DPBag n=250 k=100", 5, 6805),
    ]
    # From epsilon 3 to 5 so many labels are bought at least, whatever they cost.
    step = spend(5, 250) - spend(3, 250)
    assert step == pytest.approx(3161.03, abs=0.01)
    for (*_, printed, low), earlier in zip(impossible, (3785, 4044), strict=True):
        assert low - earlier == 3161
        assert printed - earlier in (2595, 2761)
    assert len(list(counts())) == 39


def test_the_step_of_table_6_cannot_come_from_the_stated_accounting():
    """n = 50, k = 10: 91 - 20 = 71 labels between epsilon 1 and 3, where each costs at most 1."""
    (small, large, _) = cells("dpbag", "table6", row="DPBag n=50 k=10$", column="labels")
    assert (small["published"], large["published"]) == ("20", "91")
    assert spend(3, 50) - spend(1, 50) > 91 - 20 + 1
    assert labels_of_stated_accounting(large)[0] > 91


def test_limits_of_counts_hold_for_any_costs_between_a_quarter_and_one():
    """Labels that all cost the least or the most, and any mixture, count what the limits allow."""
    (cell,) = cells("dpbag", "table2", row="DPBag n=100 k=10$", column="labels epsilon=1")
    low, high = labels_of_stated_accounting(cell)
    for cost in (1.0, 0.5, 0.25):
        assert low <= math.floor(spend(1, 100) / cost) + 1 <= high
    assert (math.floor(spend(1, 100)) + 1, math.floor(4 * spend(1, 100)) + 1) == (low, high)


def test_sizes_of_svhn_are_those_of_its_files(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    files = config["datasets"]["svhn"]
    assert (files["n_train"], files["n_test"]) == (SVHN_TRAIN, SVHN_TEST)
    pool = check(config).nzc.pate_task("svhn").pool
    sizes = {"n_train_thousands": SVHN_TRAIN / 1000, "student_images": SVHN_TEST, "pool": pool}
    sizes["evaluated"] = SVHN_TEST - pool
    known = cells("nzc", "section5.1", dataset="svhn")
    assert {cell["column"]: float(cell["low"]) for cell in known} == sizes
    known = [
        (int(cell["low"]), int(cell["high"]))
        for name in ("pate", "nzc")
        for cell in cells(name, "table1", dataset="svhn", column="answered")
        if cell["row"] != "confident"
    ]
    assert known == [(n, n) for n in (500, 1000, 500, 1000, 5000, pool, pool, pool)]


def test_costs_on_svhn_are_within_what_needs_no_votes():
    """PATE 2017's moments: labels that cost nothing, or labels no two teachers agree on.

    Confident-GNMax: the thresholds alone, or the costliest answers.
    """
    of_lnmax = [
        cell
        for name in ("pate", "nzc")
        for cell in cells(name, "table1", dataset="svhn", row="lnmax", column=".*epsilon")
    ]
    assert len(of_lnmax) == 6
    for cell in of_lnmax:
        labels = int(cell["row"].split("-")[1])
        every = ((2 * labels * l * (l + 1) / 400 + math.log(10**6)) / l for l in range(1, 9))
        assert float(cell["low"]) == pytest.approx(math.log(10**6) / 8, rel=1e-5)
        assert float(cell["high"]) == pytest.approx(min(every), rel=1e-5)
    low = 7.5 * 8500 / 80000 + math.log(10**6) / 6.5
    for item in ("table1", "table2"):
        (cell,) = cells("pate", item, dataset="svhn", row="confident", column="epsilon")
        assert float(cell["low"]) == pytest.approx(low, rel=1e-5)
        assert float(cell["high"]) == pytest.approx(low + 7.5 * 3098 / 1600, rel=1e-5)


def test_limits_are_stated_and_a_number_beyond_them_is_not_bounded():
    table = compare(PRINTED, {}, data="paper")
    found = table[table["status"] == "bounded"]
    assert found.groupby(["paper", "dataset"]).size().to_dict() == {
        ("dpbag", "heart-failure"): 37,
        ("nzc", "svhn"): 4,
        ("pate", "svhn"): 4,
    }
    assert found["reproduced"].isna().all()
    assert found["note"].str.contains("Test: tests/papers/dpbag/test_limits.py::").all()
    # Another number in the place of a printed one differs; of a side, one on the other side.
    moved = PRINTED.copy()
    digits = {"bounded": "999999", "match": "2", "input": "7"}
    for status, other in digits.items():
        moved.loc[table["status"] == status, "published"] = other
    for side, other in (("_above", "7"), ("_below", "-7")):
        sided = PRINTED["column"].str.endswith(side) & (table["status"] == "match")
        moved.loc[sided, "published"] = other
    after = compare(moved, {}, data="paper")["status"]
    assert set(after[table["status"].isin(digits)]) == {"differs"}
