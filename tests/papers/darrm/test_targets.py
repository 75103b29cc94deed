"""Names of DaRRM's files: made from parameters, read back from wildcards."""

import pytest

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.darrm import targets
from private_ensembles.run.check import check
from private_ensembles.run.file_names import make_point_reader
from tests.run.shipped import DEFAULT, changed


def test_a_point_of_gamma_comes_back_from_the_wildcards_of_its_name():
    darrm = check(DEFAULT).darrm
    path = targets.gamma_file(darrm, K=11, m=3, epsilon=0.1, Delta=1e-5, prior="uniform:0.5,1")
    wildcards = {
        "K": "11",
        "m": "3",
        "epsilon": "0.1",
        "Delta": "1e-05",
        "delta": "2.9999700001000004e-05",
        "prior": "uniform:0.5",
        "prior_end": "1",
    }
    assert path == f"results/darrm/gamma/{targets.GAMMA_POINT.format(**wildcards)}.json"
    read = make_point_reader(targets.GAMMA_POINT)(wildcards)
    assert read == parameters_of(path)
    assert read["delta"] == pytest.approx(3e-5, rel=1e-4)
    assert (read["K"], read["prior"]) == (11, "uniform:0.5,1")


def test_gamma_has_the_configured_prior_unless_its_point_has_one():
    darrm = check(DEFAULT).darrm
    point = {"K": 5, "m": 1, "epsilon": 0.1, "Delta": 0}
    assert f"prior={darrm.prior}.json" in targets.gamma_file(darrm, **point)
    assert "prior=common:0.5,1.json" in targets.gamma_file(darrm, **point, prior="common:0.5,1")


def test_labels_rest_on_votes_by_name_and_on_the_proof():
    config = changed({"darrm.training_seeds": [4, 7]})
    inputs = targets.label_inputs(check(config).darrm, "mnist", 3)
    assert list(inputs) == [
        *("private_4", "private_7", "plain_4", "plain_7"),
        *("gamma", "sigma", "proof"),
    ]
    assert parameters_of(inputs["plain_7"]) == {"kind": "plain", "K": 11, "seed": 7}
    # The budget of a label is m times a teacher's, in decimals.
    assert parameters_of(inputs["sigma"])["epsilon"] == 0.2676
