"""What docs/libraries.md says of dp_accounting's arithmetic, by the lock's version."""

import math
import re
from importlib.metadata import version

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq
from scipy.special import log_ndtr

Relation = dp_accounting.NeighboringRelation


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "libraries.md").read_text(encoding="utf-8")


def true_epsilon(mu, delta):
    """The epsilon of a Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""

    def log_delta(epsilon):
        first = log_ndtr(mu / 2 - epsilon / mu)
        second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return first + math.log(-math.expm1(second - first))

    return brentq(lambda epsilon: log_delta(epsilon) - math.log(delta), 0, 100, xtol=1e-12)


def total_of(steps, mu):
    """So many steps that all together are one Gaussian mechanism of mu."""
    return pld.from_gaussian_mechanism(math.sqrt(steps) / mu).self_compose(steps)


def test_the_page_speaks_of_the_version_in_the_lock(root, page):
    lock = (root / "envs" / "requirements.lock").read_text(encoding="utf-8")
    (locked,) = re.findall(r"^dp-accounting==(\S+)", lock, re.MULTILINE)
    assert locked == version("dp-accounting")
    assert f"dp_accounting {locked}'s totals" in page


def test_a_total_of_100000_steps_is_below_the_truth_at_a_tiny_delta():
    assert round(true_epsilon(1, 1e-12), 2) == 7.24
    # 7.07 with the lock's SciPy, 7.08 with that of 2025.
    assert round(total_of(100_000, 1).get_epsilon_for_delta(1e-12), 1) == 7.1


@pytest.mark.parametrize(
    "steps", [100_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 1_000, 10_000))]
)
def test_no_total_is_below_the_truth_where_the_page_trusts_it(steps, page):
    assert "at δ = 10⁻⁸ and above no total was below the truth" in page
    short = {}
    for mu in (0.5, 1, 4, 8):
        total = total_of(steps, mu)
        for delta in (1e-5, 1e-8, 1e-10):
            less = true_epsilon(mu, delta) - total.get_epsilon_for_delta(delta)
            short[delta] = max(short.get(delta, 0), less)
    assert short[1e-5] <= 1e-6
    assert short[1e-8] <= 1e-6
    assert short[1e-10] > 1e-6


def test_only_the_accountant_of_loss_distributions_charges_twice_the_change_for_replace_one():
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(10), 100)
    costs = {
        (kind, relation): kind(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
        for kind in (PLDAccountant, RdpAccountant)
        for relation in (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE)
    }
    pld_once, pld_twice, rdp_once, rdp_twice = costs.values()
    assert rdp_once == rdp_twice
    assert pld_once == pytest.approx(true_epsilon(1, 1e-5), abs=1e-3)
    assert pld_twice == pytest.approx(true_epsilon(2, 1e-5), abs=1e-3)
