"""Adversaries on a tiny ensemble: a planted leak is found, constant labels tell nothing."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from private_ensembles.base.streams import generator
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.votes import Votes
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.shards import cut_shards
from private_ensembles.training.teachers.ensemble import train_ensemble
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import Randomness
from private_ensembles.training.teachers.voting import cast_votes
from studies.adversaries import attacks
from studies.adversaries.attacks import AttackedMechanism, Attacks, Target, attack_ensembles
from studies.adversaries.figure import draw

K, SEED = 5, 3
PLAIN = {
    "model": "linear",
    "batch_size": 4,
    "epochs": 20,
    "learning_rate": 0.3,
    "learning_rate_schedule": "constant",
    "momentum": 0,
}
PRIVATE = {
    "model": "linear",
    "noise_multiplier": 4,
    "max_grad_norm": 1,
    "batch_size": 4,
    "epochs": 2,
    "learning_rate": 0.1,
}
SETTINGS = {
    "queries": 10,
    "records": 3,
    "retrainings": 6,
    "draws": 4000,
    "confidence": 0.95,
    "row_confidence": 0.999,
}


@dataclass(frozen=True)
class Constant:
    """Labels that do not look at votes."""

    may_abstain = False

    def outcome_distribution(self, counts, parameters):
        return np.full((len(counts), 2), 0.5)

    def draw(self, counts, parameters, source):
        return source.generator.integers(0, 2, len(counts))

    def numerical_error(self, *size):
        return {"relative_error": 0.0, "absolute_error": 0.0}


@dataclass(frozen=True)
class Dictator(Constant):
    """A leak: the vote of one teacher, drawn for every query, as it is."""

    def outcome_distribution(self, counts, parameters):
        return counts / counts.sum(axis=1, keepdims=True)

    def draw(self, counts, parameters, source):
        chances = self.outcome_distribution(counts, parameters)[:, 1]
        return (source.generator.random(len(counts)) < chances).astype(int)


@pytest.fixture(scope="module")
def dataset():
    """Bright and dark images of 4 x 4 pixels, and many that are hard to tell."""
    source = np.random.default_rng(5)
    labels = source.integers(0, 2, 140).astype(np.uint8)
    light = 6 + 3 * labels[:, None, None] + source.integers(-5, 6, (140, 4, 4))
    images = np.clip(light, 0, 16).astype(np.uint8)
    return LabelledImages("tiny", images[:40], labels[:40], images[40:], labels[40:], 16, 2)


def target(dataset, kind="plain", training=PLAIN):
    """The first teacher of an ensemble that is trained as the workflow's is."""
    source = generator(SEED, "tiny", "shards", K, 0)
    shards = cut_shards("permutation", dataset.train_images, dataset.train_labels, K, source)
    records = ShardedRecords(dataset.train_images, dataset.train_labels, shards, 16, 2)
    teachers = train_ensemble(kind, records, training, Randomness(SEED, ("tiny", 0)))
    votes = cast_votes(
        teachers, dataset.test_images, model=training["model"], pixel_max=16, n_classes=2
    )
    cache = Votes(2, dataset.test_labels, votes)
    return Target(dataset, cache, kind, training, seed=SEED, training_seed=0), votes


@pytest.fixture(scope="module")
def plain(dataset):
    return target(dataset)


def test_the_teacher_is_trained_again_as_the_workflow_trained_it(dataset, plain):
    attacked, votes = plain
    assert (attacked.own_votes == votes[:, attacks.TEACHER]).all()
    assert (attacked.count_votes(attacked.own_votes).sum(axis=1) == K).all()
    private, votes = target(dataset, "private", PRIVATE)
    assert (private.own_votes == votes[:, attacks.TEACHER]).mean() > 0.99  # up to rounding


def rows(attacked, law, delta=1e-3):
    setting = AttackedMechanism("gnmax", law, GaussianNoise(1.0), delta, math.inf)
    return pd.DataFrame(Attacks(attacked, SETTINGS, SEED).run_attacks([setting], "everything"))


def test_a_planted_leak_is_found(plain):
    table = rows(plain[0], Dictator()).set_index(["record", "queries_are"])
    repeated = table.loc[("poisoned", "repeated")]
    assert repeated["moved_votes"] == SETTINGS["queries"]
    # One vote of five: ten labels tell which of two shares of ones it is.
    assert repeated["observed_lower"] > 1
    assert repeated["exact_epsilon"] >= repeated["observed_lower"]
    assert table.loc[("teacher", "repeated"), "observed_lower"] > 1


def test_constant_labels_tell_nothing(plain):
    table = rows(plain[0], Constant())
    assert (table[["observed_lower", "observed", "observed_upper", "exact_epsilon"]] == 0).all(
        axis=None
    )


def test_an_adversary_who_may_choose_more_learns_more(plain):
    setting = AttackedMechanism(
        "gnmax", load_mechanism("gnmax").law, GaussianNoise(20.0), 1e-3, math.inf
    )
    found = Attacks(plain[0], SETTINGS, SEED).run_attacks([setting], "everything")
    exact = {(row["record"], row["queries_are"]): row["exact_epsilon"] for row in found}
    # Queries are ranked by Jeffreys' divergence, which is nearly in the order of epsilon.
    for kind in ("natural", "poisoned"):
        assert exact[kind, "given"] <= 1.02 * exact[kind, "chosen"]
        assert exact[kind, "chosen"] <= 1.02 * exact[kind, "repeated"]
        assert exact[kind, "repeated"] <= 1.02 * exact["teacher", "repeated"]


def test_nothing_observed_refutes_what_is_exact_and_nothing_exact_what_is_proven(dataset, plain):
    private, _ = target(dataset, "private", PRIVATE)
    noise = {"threshold": 2, "sigma1": 2.0, "sigma2": 2.0}
    both = (
        (plain[0], {"K": K, "delta": 1e-3, "confident": noise}),
        (
            private,
            {
                "K": K,
                "m": 1,
                "epsilon": 0.5,
                "Delta": 1e-3,
                "delta_gamma": 1e-3,
                "training": PRIVATE,
            },
            np.full(K + 1, 0.5),
        ),
        SETTINGS,
        SEED,
    )
    table = attack_ensembles(*both)
    assert len(table) == 3 * 7 + 1
    known = table.dropna(subset=["exact_epsilon"])
    assert (known["observed_lower"] <= known["exact_epsilon"]).all()
    proven = known.dropna(subset=["proven_epsilon"])
    assert len(proven) == 14
    assert (proven["exact_epsilon"] <= proven["proven_epsilon"] * (1 + 1e-6) + 1e-3).all()
    hidden = table[table["training_known"] == "nothing"].iloc[0]
    assert hidden["observed_lower"] <= hidden["proven_epsilon"]
    assert hidden["runs"] == SETTINGS["retrainings"]
    pd.testing.assert_frame_equal(attack_ensembles(*both), table)  # seeded throughout


def test_poisoned_records_are_close_votes_with_the_other_label(plain):
    attacked, _ = plain
    records, places = attacks.poisoned_records(attacked, 3)
    leads = np.abs(np.diff(attacked.others[:-3], axis=1))[:, 0]
    assert leads[places].max() <= np.sort(leads)[2]
    for (_, image, label), place in zip(records, places, strict=True):
        assert (image == attacked.dataset.test_images[place]).all()
        assert label != attacked.own_votes[place]


def test_more_queries_than_there_are_images_are_refused(plain):
    attacks = Attacks(plain[0], SETTINGS | {"queries": 98}, SEED)
    setting = AttackedMechanism("gnmax", Constant(), None, 1e-3, 1.0)
    with pytest.raises(ValueError, match="queries = 98: tiny has only 97 to ask"):
        attacks.run_attacks([setting], "everything")


def test_scores_of_a_law_that_may_be_silent_count_no_answer():
    confident = load_mechanism("confident_gnmax")
    noise = attacks.CheckedNoise(3, 1.0, 1.0)
    setting = AttackedMechanism("confident_gnmax", confident.law, noise, 1e-3, 1.0)
    here, there = np.array([[4, 0], [2, 2]]), np.array([[3, 1], [2, 2]])
    sources = [np.random.default_rng(side) for side in range(2)]
    first, second = attacks.draw_log_likelihood_ratios(setting, here, there, 20_000, sources)
    p, q = (setting.outcomes(counts)[0] for counts in (here, there))
    assert first.mean() == pytest.approx((p * np.log(p / q)).sum(), abs=0.02)
    assert second.mean() == pytest.approx((q * np.log(p / q)).sum(), abs=0.02)


@pytest.fixture
def table():
    rows = []
    for mechanism, known in (("gnmax", "everything"), ("darrm_opt", "noise")):
        for place, (record, way) in enumerate(
            itertools.product(("natural", "poisoned"), ("given", "chosen", "repeated"))
        ):
            rows.append(
                {
                    "mechanism": mechanism,
                    "record": record,
                    "queries_are": way,
                    "training_known": known,
                    "delta": 1e-5,
                    "observed_lower": 0.0,
                    "observed_upper": 0.1 * place,
                    "exact_epsilon": float("inf") if place == 5 else 0.1 * place,
                    "proven_epsilon": 1.0 if known == "everything" else None,
                }
            )
    return pd.DataFrame(rows)


def test_every_adversary_has_a_line_and_what_is_proven_is_shown_where_it_is(table, tmp_path, drawn):
    draw(table, tmp_path / "x.png")
    axes = drawn[0].axes
    assert len(axes) == 2
    for axis, proven in zip(axes, (True, False), strict=True):
        assert len(axis.get_yticks()) == 6
        assert any(line.get_linestyle() == "--" for line in axis.get_lines()) == proven
    assert "noise known" in axes[1].get_title(loc="left")
    words = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert len(words) == len(set(words)) == 3
