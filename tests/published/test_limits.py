"""What follows without data: limits worked out by hand, and printed numbers within them or not."""

import math

import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.published import limits, statements_of_nzc
from private_ensembles.published.comparison import compare
from private_ensembles.published.declarations import first_that_fits, paper
from private_ensembles.published.printed import FOLDER, key_of, read_published

PRINTED = read_published(FOLDER.glob("*.csv"))


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


def test_thirty_seven_counts_of_heart_failure_are_possible_and_two_are_not():
    """Worked out again: SAA <= N <= 4 SAA, and steps between budgets, each label costing <= 1."""
    impossible = []
    for cell in counts():
        n, epsilon = int(cell["row"].split()[1][2:]), int(cell["column"][-1])
        (low, high), printed = limits.of_the_stated_accounting(cell), int(cell["published"])
        allowed = spend(epsilon, n)
        assert math.floor(allowed) + 1 <= low
        assert high <= math.floor(4 * allowed) + 1
        assert allowed < printed <= 4 * allowed + 1
        if not low <= printed <= high:
            impossible.append((cell["item"], cell["row"], epsilon, printed, low))
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
    assert limits.of_the_stated_accounting(large)[0] > 91


def test_limits_of_counts_hold_for_any_costs_between_a_quarter_and_one():
    """Labels that all cost the least or the most, and any mixture, count what the limits allow."""
    (cell,) = cells("dpbag", "table2", row="DPBag n=100 k=10$", column="labels epsilon=1")
    low, high = limits.of_the_stated_accounting(cell)
    for cost in (1.0, 0.5, 0.25):
        assert low <= math.floor(spend(1, 100) / cost) + 1 <= high
    assert (math.floor(spend(1, 100)) + 1, math.floor(4 * spend(1, 100)) + 1) == (low, high)


def test_sizes_of_svhn_are_those_of_its_files(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    files = config["datasets"]["svhn"]
    assert (files["n_train"], files["n_test"]) == (limits.SVHN_TRAIN, limits.SVHN_TEST)
    task = config["pate"]["tasks"]["svhn"]
    assert task["pool"] == limits.SVHN_POOL
    printed = paper("pate").parameters["svhn"]
    assert printed["confident"] == limits.SVHN_CONFIDENT
    assert (printed["delta"], printed["lnmax"]["scale"]) == (limits.SVHN_DELTA, limits.SVHN_SCALE)
    assert check(config).nzc.gamma == statements_of_nzc.SCALE
    assert check(config).nzc.constant == statements_of_nzc.CONSTANT
    for name, labels in statements_of_nzc.LABELS.items():
        settings = check(config).nzc.pate_task(name)
        assert (settings.pool, settings.delta) == (labels, statements_of_nzc.DELTA[name])
    found = {
        cell["column"]: limits.size_of_svhn(cell)
        for cell in cells("nzc", "section5.1", dataset="svhn")
    }
    values = {"n_train_thousands": 73.257, "student_images": 26032, "pool": 10000}
    assert found == {**values, "evaluated": 16032}
    queries = [
        limits.number_of_queries(cell)
        for cell in cells("nzc", "table1", dataset="svhn", column="answered")
    ]
    assert queries == [500, 1000, 5000, 10000, 10000, 10000]


def test_costs_on_svhn_are_within_what_needs_no_votes():
    for name, labels, largest in (("lnmax-500", 500, 14.4), ("lnmax-1000", 1000, 21.9)):
        (cell,) = cells("pate", "table1", dataset="svhn", row=f"{name}$", column="epsilon")
        low, high = limits.lnmax_of_pate(cell)
        assert low == pytest.approx(math.log(10**6) / 8)
        every = ((2 * labels * l * (l + 1) / 400 + math.log(10**6)) / l for l in range(1, 9))
        assert high == pytest.approx(min(every))
        assert high == pytest.approx(largest, abs=0.05)
        assert low < float(cell["published"]) < high
    (cell,) = cells("pate", "table2", dataset="svhn", column="epsilon")
    low, high = limits.confident_of_pate(cell)
    assert low == pytest.approx(7.5 * 8500 / 80000 + math.log(10**6) / 6.5)
    assert high == pytest.approx(low + 7.5 * 3098 / 1600)
    assert (round(low, 2), round(high, 1)) == (2.92, 17.4)


def test_limits_are_stated_and_a_number_beyond_them_is_not_bounded():
    table = compare(PRINTED, {}, data="paper")
    found = table[table["status"] == "bounded"]
    assert found.groupby(["paper", "dataset"]).size().to_dict() == {
        ("dpbag", "heart-failure"): 37,
        ("nzc", "svhn"): 4,
        ("pate", "svhn"): 4,
    }
    assert found["reproduced"].isna().all()
    assert found["note"].str.contains("Test: tests/published/test_limits.py::").all()
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


def test_every_limit_is_finite():
    for key in map(key_of, PRINTED.to_dict("records")):
        rule = first_that_fits(paper(key.paper).limits, key)
        if rule is not None:
            low, high = rule.of(key)
            assert -math.inf < low <= high < math.inf
