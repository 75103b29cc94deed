"""A certificate of labels proves what the account says, on a grid that is as fine as need be."""

import pytest

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.release import certificate, label_certificate
from tests.release import releases

DELTA = releases.DELTA


@pytest.mark.parametrize(
    ("name", "teachers", "classes", "labels"),
    [("permute_and_flip", 21, 2, 5), ("gnmax_exact", 21, 2, 12), ("gnmax_exact", 21, 4, 12)],
)
def test_it_claims_what_the_account_says_and_its_curve_falls(name, teachers, classes, labels):
    plan = releases.planned(name, teachers, classes, labels, {})
    noise = certificate._noise(plan, plan.parameters)
    family = plan.mechanism.law.dominating_pairs(plan.task, plan.parameters)
    account = adaptive_epsilon(family, labels, DELTA)
    claim = account.upper
    body, curve = next(label_certificate.certify_adaptive_labels(noise, labels, DELTA, claim))
    assert float.fromhex(body["epsilon"]) == claim
    epsilons, deltas = zip(*sorted(curve), strict=True)
    assert (epsilons[0], epsilons[-1]) == (0.0, claim)
    assert list(deltas) == sorted(deltas, reverse=True)
    assert deltas[-1] <= DELTA * (1 + 1e-5)


def test_less_than_the_account_s_lower_bound_is_on_no_grid():
    plan = releases.planned("gnmax_exact", 21, 2, 12, {})
    noise = certificate._noise(plan, plan.parameters)
    family = plan.mechanism.law.dominating_pairs(plan.task, plan.parameters)
    least = adaptive_epsilon(family, 12, DELTA).lower
    assert not list(label_certificate.certify_adaptive_labels(noise, 12, DELTA, 0.999 * least))


def test_a_claim_that_no_grid_proves_is_not_handed_over(monkeypatch):
    """As the certificates of ladders were whose noise the account had shrunk."""
    plan = releases.planned("ladder", 21, 2, 5, {})
    with pytest.raises(certificate.NoCertificate, match="the verifier does not prove it: delta is"):
        certificate.prove(plan, 0.99 * releases.cost_of(plan))
    monkeypatch.setattr(label_certificate, "certify_adaptive_labels", lambda *_: iter(()))
    proof = certificate.prove_or_explain(plan, releases.cost_of(plan))
    assert proof.body["kind"] == "none"
    assert "delta is about" in proof.body["why"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(250, 10, 4, 0.5, 1e-5), (40, 20, 2, 4.03, 1e-9)])
def test_few_labels_of_many_pairs_have_a_certificate_within_a_minute(size):
    """Neighbours among some 100,000 pairs are alike, and are joined before groups are sought."""
    teachers, classes, labels, epsilon, delta = size
    budget = {"epsilon": epsilon, "delta": delta}
    plan = releases.planned("gnmax_exact", teachers, classes, labels, {}, **budget)
    assert certificate.prove_or_explain(plan, releases.cost_of(plan)).body["kind"] == "total"


def test_groups_that_would_be_looked_for_too_long_end_the_search(monkeypatch):
    """Nobody waits for hours for a certificate: what is then not proven is said."""
    monkeypatch.setattr(label_certificate, "_MOST_COMPARED", 1e3)
    plan = releases.planned("gnmax_exact", 11, 3, 4, {})
    noise = certificate._noise(plan, plan.parameters)
    assert not list(
        label_certificate.certify_adaptive_labels(noise, 4, DELTA, releases.cost_of(plan))
    )
    assert certificate.prove_or_explain(plan, releases.cost_of(plan)).body["kind"] == "none"
