"""Certificates of labels and totals: the verifier accepts them, and they agree with the audit."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.darrm import optimize_gamma
from private_ensembles.darrm.certificate_file import stated
from private_ensembles.ledger.certificates import certificates_of_budgets, law_of, of_one_label
from private_ensembles.ledger.ledger import setting
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import refusal
from private_ensembles.papers.darrm.one_label import terms
from verify import verify

BUDGET = {"K": 5, "m": 3, "epsilon": 0.1, "Delta": 1e-4}


@pytest.fixture(scope="module")
def given():
    return setting(BUDGET, optimize_gamma(5, 3, 0.1, 1e-4, solver="highs").gamma)


def test_the_verifier_accepts_every_one(given):
    found = certificates_of_budgets({"small": given}, [1, 7, 150], 1e-4)
    assert len(found["about"]) == len(found["certificates"])
    assert all(len(set(names)) == len(names) for names in found["about"])
    kinds = {(body["kind"], body["theorem"]) for body in found["certificates"]}
    assert kinds == {
        ("gamma_privacy", "darrm_lemma_3.4"),
        ("label", "hockey_stick"),
        ("total", "loss_distribution"),
        ("total", "backward_induction"),
    }
    for body in found["certificates"]:
        verify.check(body)
    many = [body for body in found["certificates"] if body.get("labels") == 150]
    assert {body["law"]["name"] for body in many} > {"response", "gaussian", "laplace", "table"}
    assert {body["theorem"] for body in many} == {"loss_distribution"}
    named = {each.removeprefix("small: ") for subjects in found["about"] for each in subjects}
    every = set(registry.of_one_label())
    assert named == (every | {"any"}) - {"majority_private"}


def of_counts(given):
    for mechanism in map(load, registry.of_one_label()):
        if mechanism.entry.hides_votes:
            yield mechanism, terms(mechanism.entry, given.budget), given.parameters[mechanism.name]


def cells(pairs):
    """Both chances of each label, in order: which label is which does not matter."""
    return np.array([sorted(pair.tolist()) for pair in pairs])


def test_named_noise_and_tables_hold_the_probabilities_of_the_mechanism(given):
    names = set()
    for mechanism, task, parameters in of_counts(given):
        audited = mechanism.law.audited(task, parameters)
        law = law_of(mechanism, task, parameters, audited)
        names.add(law["name"])
        ours = cells(np.stack(audited.label_pairs().pairs(), axis=2))
        bounds = np.array(verify.neighbours(law)[0], dtype=object) / verify.GUARD
        for end in (0, 1):
            theirs = cells(bounds[..., end].astype(float))
            apart = np.abs(ours[:, None] - theirs[None]).max(axis=(2, 3))
            assert apart.min(axis=0).max() < 1e-9
            assert apart.min(axis=1).max() < 1e-9
    assert names == {"gaussian", "laplace", "exponential", "permute_and_flip", "table"}


def test_too_little_noise_gets_a_certificate_that_the_claim_fails(given):
    for mechanism, task, parameters in of_counts(given):
        weak = mechanism.law.less_noise(parameters, 0.2)
        audited = mechanism.law.audited(task, weak)
        law = law_of(mechanism, task, weak, audited)
        denial, exact = of_one_label(task, audited, law)
        assert denial["theorem"] == "counterexample"
        assert denial["epsilon"] == task.epsilon.hex()
        assert float.fromhex(exact["epsilon"]) > task.epsilon
        verify.check(denial)
        verify.check(exact)
        claimed = {name: denial[name] for name in ("kind", "law", "epsilon", "delta")}
        claimed["theorem"] = "hockey_stick"
        with pytest.raises(ValueError, match="delta is about"):
            verify.check(stated(**claimed))


def test_secure_noise_is_certified_by_its_table(given):
    """The laws are of continuous noise."""
    secured = 0
    for mechanism, task, parameters in of_counts(given):
        secure = replace(task, secure=True)
        if refusal(mechanism, parameters, 2, secure=True) is None:
            audited = mechanism.law.audited(secure, parameters)
            assert law_of(mechanism, secure, parameters, audited)["name"] == "table"
            secured += 1
    assert secured > 3
