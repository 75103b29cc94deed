"""Names of files: made from parameters, read back from wildcards, the same everywhere."""

from pathlib import Path

import pytest
import yaml

from private_ensembles.base.numbers import parameters_of
from private_ensembles.base.provenance import is_private
from private_ensembles.run import names_of_files
from private_ensembles.run.check import check


@pytest.fixture
def config(root):
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def settings(config):
    return check(config)


def test_a_point_of_gamma_comes_back_from_the_wildcards_of_its_name(settings):
    path = names_of_files.gamma(settings, K=11, m=3, epsilon=0.1, Delta=1e-5, prior="uniform:0.5,1")
    wildcards = {
        "K": "11",
        "m": "3",
        "epsilon": "0.1",
        "Delta": "1e-05",
        "delta": "2.9999700001000004e-05",
        "prior": "uniform:0.5",
        "prior_end": "1",
    }
    assert path == f"results/darrm/gamma/{names_of_files.GAMMA_POINT.format(**wildcards)}.json"
    point = names_of_files.point(names_of_files.GAMMA_POINT)(wildcards)
    assert point == parameters_of(path)
    assert point["delta"] == pytest.approx(3e-5, rel=1e-4)
    assert (point["K"], point["prior"]) == (11, "uniform:0.5,1")


def test_gamma_has_the_configured_prior_unless_its_point_has_one(settings):
    point = {"K": 5, "m": 1, "epsilon": 0.1, "Delta": 0}
    assert f"prior={settings.darrm.prior}.json" in names_of_files.gamma(settings, **point)
    assert "prior=common:0.5,1.json" in names_of_files.gamma(
        settings, **point, prior="common:0.5,1"
    )


def test_labels_rest_on_votes_by_name_and_on_the_proof(config):
    config["darrm"]["training_seeds"] = [4, 7]
    inputs = names_of_files.label_inputs(check(config), "mnist", 3)
    assert list(inputs) == [
        *("private_4", "private_7", "plain_4", "plain_7"),
        *("gamma", "sigma", "proof"),
    ]
    assert parameters_of(inputs["plain_7"]) == {"kind": "plain", "K": 11, "seed": 7}
    # The budget of a label is m times a teacher's, in decimals.
    assert parameters_of(inputs["sigma"])["epsilon"] == 0.2676


def test_an_ensemble_is_one_file_or_one_for_each_slice():
    one = names_of_files.teachers([], "svhn", "plain", "5", "0")
    assert one == ["results/teachers/svhn/kind=plain,K=5,seed=0.pt"]
    two = names_of_files.teachers(["1of2", "2of2"], "svhn", "plain", "5", "0")
    assert [path.rpartition("slice=")[2] for path in two] == ["1of2.pt", "2of2.pt"]


def test_every_budget_of_the_ledger_has_its_noise_function(settings):
    found = names_of_files.audited_gammas(settings)
    assert list(found) == list(settings.audit.budgets)
    for name, path in found.items():
        assert parameters_of(path)["K"] == settings.audit.budget(name)["K"]


def test_votes_of_nzc_go_by_their_number_of_teachers(settings):
    task = next(iter(settings.nzc.chosen()))
    votes = names_of_files.nzc_votes(settings, task)
    assert [parameters_of(path)["K"] for path in votes.values()] == sorted(votes)
    labels = names_of_files.nzc_label_votes(settings, task)
    assert labels == {"many": votes[max(votes)], "few": votes[settings.nzc.tasks[task].few]}


def test_costs_of_bagging_stand_beside_its_counts(settings):
    counts = names_of_files.bagged(settings, "privacy", "logistic", "breast-cancer", "0")
    costs = names_of_files.bagged(settings, "costs", "logistic", "breast-cancer", "0")
    assert list(map(parameters_of, counts)) == list(map(parameters_of, costs))


def test_docs_keep_the_paper_and_the_name():
    results = {"tables": ["results/pate/tables/table1.csv", "results/privacy_ledger.csv"]}
    assert names_of_files.docs(results) == {
        "tables": ["docs/pate/table1.csv", "docs/privacy_ledger.csv"]
    }


def test_a_rehearsal_is_told_by_every_name_and_only_one_file_is_private(config):
    release, rehearsal = (
        names_of_files.own_votes(check(config | {"noise": noise}))
        for noise in ("secure", "reproducible")
    )
    assert {Path(path).parent.name for path in release.values()} == {"release", "private"}
    assert all(Path(path).name.startswith("rehearsal_") for path in rehearsal.values())
    assert [what for what, path in release.items() if is_private(path)] == ["private"]
    assert all(is_private(path) for path in rehearsal.values())
    assert not set(release.values()) & set(rehearsal.values())
