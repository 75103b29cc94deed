"""Names of DPBag's files."""

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.dpbag import targets
from private_ensembles.run.check import check
from tests.run.shipped import DEFAULT


def test_costs_of_bagging_stand_beside_its_counts():
    dpbag = check(DEFAULT).dpbag
    counts = targets.split_files(dpbag, "privacy", "logistic", "breast-cancer", "0")
    costs = targets.split_files(dpbag, "costs", "logistic", "breast-cancer", "0")
    assert list(map(parameters_of, counts)) == list(map(parameters_of, costs))
