"""Certificates as they are written: exact numbers, and what is left out."""

import numpy as np
import pytest

from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.papers.darrm.mathematics.certificate_file import (
    certificates_of_gamma,
    certify_privacy,
)
from private_ensembles.papers.darrm.mathematics.objective import empirical_prior
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from verify import verify


def test_numbers_keep_all_bits():
    gamma = np.array([0.1, 1.0, 5e-324])
    assert [float.fromhex(text) for text in write_hexadecimal(gamma)] == gamma.tolist()
    body = certify_privacy(PrivacyProblem(3, 1.1, 0.1, 1e-5, 0.3), np.array([0.1, 0.0, 0.0, 0.1]))
    found = [float.fromhex(body[name]) for name in ("m", "epsilon", "Delta", "delta")]
    assert found == [1.1, 0.1, 1e-5, 0.3]


@pytest.mark.parametrize("prior", ["uniform:0.5,1", "common:0.5,1"])
@pytest.mark.parametrize(("K", "m"), [(1, 1), (5, 5), (21, 4)])
def test_multipliers_prove_the_bound_of_the_search(K, m, prior):
    """gamma = 1 (m = K) needs no multiplier, one teacher a single one."""
    solution = optimize_gamma(K, m, 0.1, 1e-5, prior=prior, solver="highs")
    proof = certificates_of_gamma(solution)[1]
    verify.check(proof)
    claimed = float.fromhex(proof["utility"])
    assert solution.utility_upper_bound <= claimed <= solution.utility_upper_bound + 1e-10
    assert len(proof["rows"]) <= (K + 1) // 2 + 1


def test_a_utility_that_nobody_could_recompute_has_no_certificate():
    with pytest.warns(UserWarning, match="not covered"):
        prior = empirical_prior([0, 3, 3], 3, "0" * 64)
    for chosen in (prior, "absolute-uniform:0,1"):
        found = certificates_of_gamma(optimize_gamma(3, 1, 0.1, prior=chosen, solver="highs"))
        assert [body["kind"] for body in found] == ["gamma_privacy"]
