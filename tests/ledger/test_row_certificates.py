"""Certificates of the ledger's rows: the verifier accepts each, and no row is passed over."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.darrm import optimize_gamma
from private_ensembles.ledger import row_certificates
from private_ensembles.ledger.certificates import certificates_of_budgets
from private_ensembles.ledger.ledger import ledger, setting
from private_ensembles.ledger.row_certificates import releases
from private_ensembles.mechanisms.checks.checked import CheckedNoise
from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.published.printed import FOLDER, read_published
from private_ensembles.published.reproduced import claims_of
from verify import verify

DEFAULT = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))
BUDGET = {"K": 5, "m": 3, "epsilon": 0.1, "Delta": 1e-4}
TRAINED = {"shard_size": 1024, "batch_size": 32, "epochs": 5, "noise_multiplier": 12}


@pytest.fixture(scope="module")
def written():
    """The ledger of two tasks, and what is written of it."""
    chosen = check(DEFAULT).ledger() | {"budgets": {"small": BUDGET | {"teachers": TRAINED}}}
    for part, names in (("pate", ("mnist", "glyph")), ("nzc", ("mnist",))):
        chosen[part] = {name: chosen[part][name] for name in names}
    gamma = optimize_gamma(5, 3, 0.1, 1e-4, solver="highs").gamma
    printed = read_published([FOLDER / "pate_table1.csv", FOLDER / "dpbag_table6.csv"])
    published = claims_of(printed, chosen["pate"])
    table = ledger(chosen, {"small": gamma}, published)
    proven = certificates_of_budgets({"small": setting(BUDGET, gamma)}, [2], 1e-4)
    rows = row_certificates.certificates_of_rows(chosen, published, table, proven["about"])
    return table, proven, rows


def test_every_row_has_a_certificate_or_says_why_not(written):
    table, proven, rows = written
    assert len(rows["about"]) == len(rows["certificates"])
    said = {name for names in rows["about"] for name in names}
    by_budget = {name for names in proven["about"] for name in names}
    for row in table.itertuples():
        stated = row.setting.startswith("small: one label") and "teachers by" not in row.setting
        assert f"{row.mechanism}, {row.setting}" in said or (
            stated and f"small: {row.mechanism}" in by_budget
        )
    without = [
        name
        for names, body in zip(rows["about"], rows["certificates"], strict=True)
        for name in names
        if body["kind"] == "ledger_row"
    ]
    # Training of teachers, and one reading of NZC's claim, 4e20.
    expected = {"majority_private", "committee", "darrm_sub", "darrm_opt", "nzc"}
    assert {name.partition(",")[0] for name in without} == expected
    assert sum(name == "majority_private, small: one label, K = 5, m = 3" for name in without) == 1


def test_the_verifier_accepts_all_of_them(written):
    """But for DPBag's labels of many teachers, of which the slow test has all."""
    table, _, rows = written
    proven = dict(
        zip(table["mechanism"] + ", " + table["setting"], table.itertuples(), strict=True)
    )
    theorems = set()
    for (name,), body in zip(rows["about"], rows["certificates"], strict=True):
        if body["kind"] == "ledger_row":
            with pytest.raises(NotImplementedError, match=r"rests on|not refuted"):
                verify.check(body)
            continue
        row, theorem = proven[name], body["theorem"]
        theorems.add(theorem)
        epsilon = float.fromhex(body["epsilon"])
        known = (row.claimed_epsilon, row.proven_epsilon, row.exact_epsilon)
        assert any(epsilon == pytest.approx(one, rel=2e-15) for one in known)
        assert float.fromhex(body["delta"]) == row.delta
        if body.get("law", {}).get("teachers", 0) <= 2500 and body.get("labels", 0) <= 1000:
            verify.check(body)
    assert theorems == {
        "hockey_stick",
        "counterexample",
        "laplace_noise",
        "gaussian_noise",
        "renyi",
        "loss_distribution",
    }


@pytest.mark.slow
def test_the_verifier_accepts_all_of_many_labels(written):
    _, _, rows = written
    for body in rows["certificates"]:
        if body["kind"] != "ledger_row":
            verify.check(body)


@pytest.mark.parametrize("share", [0.9, 0.5])
def test_a_ledger_that_claims_too_little_gets_certificates_that_fail(written, share):
    """Whatever the row says of its number, the noise decides."""
    _, _, rows = written
    tried = set()
    for body in rows["certificates"]:
        key = body["kind"], body.get("theorem")
        few = body.get("law", {}).get("teachers", 0) <= 250 and body.get("labels", 0) <= 300
        if key[1] in ("none", "counterexample") or key in tried or not few:
            continue
        tried.add(key)
        doctored = copy.deepcopy(body)
        # A renyi certificate's order serves one epsilon; any less is too little.
        doctored["epsilon"] = (share * float.fromhex(body["epsilon"])).hex()
        with pytest.raises(ValueError, match="delta is about"):
            verify.check(doctored)
    assert len(tried) == 5


def test_the_file_is_read_as_it_is_written(written, tmp_path, capsys):
    _, _, rows = written
    few = [body for body in rows["certificates"] if "law" not in body]
    path = tmp_path / "certificates.json"
    names = [x for x, body in zip(rows["about"], rows["certificates"], strict=True) if body in few]
    path.write_text(json.dumps({"certificates": few, "about": names}))
    assert verify.main([path]) == 2
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert len(words) == len(few)
    assert set(words) == {"holds", "unchecked"}


def test_what_a_vote_moves():
    """A threshold by 1; both counts of a label by 1 each, their Laplace noise by 2 together."""
    both = releases(CheckedNoise(200, 150, 40, queries=7, labels=5))
    assert [(one["times"], one["squared"], one["scale"]) for one in both] == [
        (7, "1/1", "150/1"),
        (5, "2/1", "40/1"),
    ]
    assert releases(GaussianNoise(0.5))[0]["scale"] == "1/2"
    assert releases(LaplaceNoise(20))[0]["squared"] == "4/1"
    with pytest.raises(ValueError, match="those of an aggregator"):
        releases(Parameters())
