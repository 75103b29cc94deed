"""The statement on a release says what is promised and what is not, and nothing of the votes."""

import hashlib
import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest

from private_ensembles import release_labels, release_statement
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Protection,
    Rehearsal,
    Task,
    Wanted,
)
from private_ensembles.release import certificate, release_plan, statement
from private_ensembles.release.certificate import Proof
from private_ensembles.release.expectation import max_attack_accuracy
from private_ensembles.release.record import Total
from private_ensembles.release.release_plan import ReleasePlan

EPSILON, DELTA = 2.0, 1e-5
TIME = "2026-11-26T15:00:00+00:00"
PRIVATE = {"teacher_epsilon": 0.3, "adjacency": "add_remove"}


def _plan(name="gnmax", **further):
    sizes = {"queries": 20, "labels": 20, "n_teachers": 41, "n_classes": 2, "secure": True}
    task = Task.from_dict({"epsilon": EPSILON, "delta": DELTA, **sizes | further})
    mechanism = load_mechanism(name)
    if mechanism.refusal(task) is not None:
        task = replace(task, wanted=Wanted(1))
    assert mechanism.refusal(task) is None
    noise = mechanism.calibrate(task)
    return ReleasePlan(task, name, noise, 0.75 * noise.labels, None, "1.2.3")


def _documents(plan, total, joint=None):
    digest = hashlib.sha256(b"labels").hexdigest()
    charged = statement.LedgerEntry(EPSILON, DELTA, TIME, 17, digest, total, joint)
    return statement.documents(plan, certificate.prove_or_explain(plan, EPSILON), charged)


class Text(HTMLParser):
    """The words of a page, and whatever it would fetch."""

    def __init__(self, page):
        super().__init__()
        self.words, self.fetched, self.open = [], [], []
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "rect", "polyline"):
            self.open.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in ("rect", "polyline"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def _text(page):
    text = Text(page)
    assert not text.open
    assert not text.fetched
    assert "http" not in page
    return text.text


def test_it_says_what_was_released_when_and_by_which_version():
    plan = _plan(n_classes=3)
    total, joint = Total(4.0, 2e-5, "replace_one"), Total(2.9, 2e-5, "replace_one")
    documents = _documents(plan, total, joint)
    text = _text(documents["statement.html"])
    for said in (
        "17, of 3 classes, for 20 queries",
        "41 models",
        "GNMax, published σ",
        TIME,
        "private-ensembles 1.2.3",
        hashlib.sha256(b"labels").hexdigest(),
        "(2, 1e-05)-differentially private",
        "at most 88.1 % of the time",
        "1 in 100,000",
        "docs/method.md#gaussian-noise-on-the-counts",
        "epsilon = 4 and delta = 2e-05",
        "epsilon = 2.9 and delta = 2e-05",
        "private-ensembles verify certificate.json",
        "Whoever released the labels stated this",
    ):
        assert said in text, said
    assert (
        f'"labels_sha256": "{hashlib.sha256(b"labels").hexdigest()}"'
        in documents["certificate.json"]
    )


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_every_mechanism_is_told_in_words(name):
    further = {}
    if load_mechanism(name).guarantee.teachers == "private":
        model = sorted(load_mechanism(name).guarantee.privacy_models)[0]
        further = PRIVATE | {"privacy_model": model}
    if name == "darrm_opt":
        pytest.skip("its gamma is found by a program that another test runs")
    text = _text(
        _documents(_plan(name, n_teachers=5, **further), Total(2, 1e-5, "x"))["statement.html"]
    )
    assert registry.get_entry(name).label in text
    assert registry.get_entry(name).origin.proof in text
    assert "There is no certificate" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gnmax", "Noise was drawn exactly, in whole numbers"),
        ("gnmax_exact", "Labels were drawn by exact coins"),
        ("exponential", "Labels were drawn by exact coins"),
    ],
)
def test_it_says_how_the_noise_of_two_classes_was_drawn(name, words):
    page = statement.statement(
        _plan(name), Proof({"kind": "none", "why": "x"}), statement.LedgerEntry(EPSILON, DELTA)
    )
    assert words in _text(page)


def test_it_says_that_continuous_noise_was_drawn_digit_by_digit():
    plan = _plan("gnmax_exact", n_classes=3)
    page = statement.statement(
        plan, Proof({"kind": "none", "why": "x"}), statement.LedgerEntry(EPSILON, DELTA)
    )
    assert "digit by digit until the largest noisy count was certain" in _text(page)


def test_what_the_user_stated_is_in_it_and_cannot_be_markup():
    plan = _plan(unit="<b>patient")
    proof = Proof({"kind": "none", "why": "x & y"})
    page = statement.statement(plan, proof, statement.LedgerEntry(EPSILON, DELTA))
    assert "<b>" not in page
    text = _text(page)
    assert "One <b>patient" in text
    assert "Whoever released the labels stated this" in text
    assert "There is no certificate of this release, because x & y" in text


def test_a_rehearsal_is_called_so_first():
    counts = np.tile([[90, 10], [20, 80]], (4, 1))
    released = release_labels(counts, (2, 1e-5), rehearsal=Rehearsal(seed=1))
    text = _text(release_statement(released))
    assert text.index("This is a rehearsal") < text.index("What was released")
    assert "8, of 2 classes, for 8 queries" in text


def test_the_statement_of_the_api_reads_the_plan_back():
    counts = np.tile([[90, 10], [20, 80]], (4, 1))
    released = release_labels(counts, (2, 1e-5), Protection.disjoint(), mechanism="gnmax")
    assert release_plan.read_plan(released.terms).name == "gnmax"
    assert "not on a record" in _text(release_statement(released))
    with pytest.raises(ValueError, match="cannot be read"):
        release_statement(replace(released, terms=""))


def test_the_curve_is_that_of_a_normal_distribution_for_noisy_counts():
    """GNMax' counts are a Gaussian mechanism; the chords of a few points lie a little below it."""
    from scipy.stats import norm

    plan = _plan("gnmax_analytic", n_classes=3)
    proof = certificate.prove(plan)
    mu = math.sqrt(2 * plan.labels) / plan.parameters.sigma
    for level in (0.01, 0.1, 0.3, 0.5, 0.9):
        exact = norm.cdf(norm.ppf(1 - level) - mu)
        drawn = statement.trade_off(proof.curve, level)
        assert exact - 0.01 < drawn < exact + 1e-3  # noise on whole numbers costs hardly more
    guessed = min(max_attack_accuracy(eps, delta) for eps, delta in proof.curve)
    assert guessed == pytest.approx(norm.cdf(mu / 2), abs=1e-3)
    assert guessed < max_attack_accuracy(EPSILON, DELTA)


def test_a_guess_is_right_as_often_as_the_mechanism_that_is_worst():
    """Randomised response that leaks with delta: the guess after it is right exactly so often."""
    eps, delta = 1.3, 0.02
    truth = (1 - delta) * math.exp(eps) / (1 + math.exp(eps)) + delta
    assert max_attack_accuracy(eps, delta) == pytest.approx(truth)
    curve = [statement.trade_off([(eps, delta)], level) for level in np.linspace(0, 1, 200)]
    assert curve[0] == pytest.approx(1 - delta)
    assert (np.diff(curve, 2) >= -1e-12).all()


def test_the_page_is_small_and_prints_on_two_sheets_at_most(tmp_path):
    page = _documents(_plan(), Total(2, 1e-5, "x"))["statement.html"]
    assert len(page) < 12_000
    assert "@page{size:A4" in page
    assert re.search(r"prefers-color-scheme:dark", page)


@pytest.mark.parametrize("share", [0.5, 0.733, 0.7330000000000001, 0.8999999999999999, 1.0])
def test_a_share_in_words_is_no_less_than_the_share(share):
    printed = Fraction(statement._percent_rounded_up(share).removesuffix(" %")) / 100
    assert Fraction(share) <= printed < Fraction(share) + Fraction(11, 10_000)


@pytest.mark.parametrize(
    ("delta", "said"),
    [(1e-5, "1 in 100,000"), (1.0000000000000002e-05, "1 in 99,999"), (0.3, "1 in 3"), (0, "0")],
)
def test_one_in_so_many_is_no_less_than_delta(delta, said):
    assert statement._format_one_in(delta) == said
