"""Other libraries' selections: the numbers that are said of them, worked out independently."""

from dataclasses import replace

import mpmath
import numpy as np
import pandas as pd
import pytest

from benchmarks import libraries
from benchmarks.libraries import EPSILON, SHIFTS, Subject
from private_ensembles.audit import exact_epsilon


def drawing(law):
    """A library that draws from `law`."""
    generator = np.random.default_rng(0)

    def sample(scores, draws):
        return generator.multinomial(draws, law(np.array([scores]))[0])

    words = "each score by at most 1"
    gumbel, other = libraries.gumbel(2.0), libraries.exponential_noise(2.0)
    return Subject("numpy", "by hand", words, "epsilon", EPSILON, gumbel, other, sample)


def test_permute_and_flip_breaks_the_exponential_mechanism_s_rho_by_a_pair_that_anyone_can_check():
    """Scores 6, 6, 6 or 5, 6, 5 at scale 2: D of order 2, halved, is above epsilon^2 / 8."""
    q = mpmath.exp(mpmath.mpf(-1) / 2)
    # Equal scores: a third each. One ahead of two: each of those wins q times the integral of
    # (1 - t)(1 - q t), the sum over both orders of visits.
    behind = q * (mpmath.mpf(1) / 2 - q / 6)
    near = [behind, 1 - 2 * behind, behind]
    divergence = mpmath.log(sum(mpmath.mpf(1) / 9 / p for p in near))
    law = libraries.exponential_noise(2.0)
    np.testing.assert_allclose(law(np.array([[5, 6, 5]]))[0], [float(p) for p in near], rtol=1e-12)
    (row,) = libraries.of_another_law()
    assert row["exact"] >= divergence / 2
    pairs = libraries.neighbours(SHIFTS["each score by at most 1"])
    assert row["exact"] > 2 * EPSILON**2 / 8
    # Of the law itself, by the largest loss: what the claim can be short of at most.
    assert row["exact"] <= exact_epsilon(law(pairs[0]), pairs[1], 0.0) ** 2 / 2 * (1 + 1e-6)


def test_draws_tell_the_laws_apart():
    subject = drawing(libraries.gumbel(2.0))
    assert libraries.drawn_from(subject) == (True, True)
    other = replace(subject, sample=drawing(libraries.exponential_noise(2.0)).sample)
    assert libraries.drawn_from(other) == (False, False)


def test_a_claim_of_half_of_what_is_spent_fails():
    subject = replace(drawing(libraries.gumbel(2.0)), library="numpy")
    assert libraries.audit(subject)["holds"]
    assert not libraries.audit(replace(subject, claimed=EPSILON / 2))["holds"]


def test_the_best_account_of_a_hundred_labels_is_of_the_labels():
    black_box, pure, by_range, labels = (row["exact"] for row in libraries.compositions())
    assert black_box == pytest.approx(pure, abs=1e-3)
    assert labels < by_range < pure / 2


def test_the_section_shows_every_claim_and_what_was_drawn():
    subject = drawing(libraries.gumbel(2.0))
    rows = [
        {"part": "claim"} | libraries.audit(one) for one in (subject, replace(subject, claimed=0.1))
    ]
    rows += [{"part": "another law"} | row for row in libraries.of_another_law()]
    rows += [{"part": "composition"} | row for row in libraries.compositions()]
    section = libraries.section(pd.DataFrame(rows))
    assert section.count("| holds |") == 1
    assert section.count("| FAILS |") == 1
    assert "6.630" in section


@pytest.mark.parametrize("place", range(4))
def test_opendp_draws_as_it_says_and_claims_no_less_than_it_spends(place, monkeypatch):
    monkeypatch.setattr(libraries, "DRAWS", 4000)
    monkeypatch.setattr(libraries, "LOOKED_AT", ((0, 1, 3),))
    row = libraries.audit(libraries.subjects()[place])
    assert (row["library"], row["holds"], row["law_fits"]) == ("opendp", True, True)
    assert row["other_law_excluded"]
    assert 0.95 * row["claimed"] < row["exact"]
