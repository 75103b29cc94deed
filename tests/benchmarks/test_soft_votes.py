"""The benchmark of votes against scores, at toy sizes, and what it says of the teachers."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import run, soft_votes

PUBLISHED = pd.read_csv(run.DOCS / "soft_votes.csv")


@pytest.fixture
def scores():
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 4, 60)
    sharp = np.where(np.arange(4) == truth[:, None], 2.0, 0.5)
    drawn = generator.gamma(np.broadcast_to(sharp[:, None], (60, 15, 4)))
    return (drawn / drawn.sum(axis=2, keepdims=True)).astype(np.float32), truth


def test_every_way_has_its_own_noise_and_the_same_queries(scores, monkeypatch):
    monkeypatch.setattr(soft_votes, "PARTS", 5)
    rows = pd.DataFrame(soft_votes.compared(*scores, (20,), (4.0,)))
    assert rows["mechanism"].tolist() == list(soft_votes.MECHANISMS)
    assert rows[["hard", "soft", "drawn"]].stack().between(0.25, 1).all()
    assert np.allclose(rows["difference"], rows["soft"] - rows["hard"])
    assert (rows["error"] > 0).all()
    votes = scores[0].argmax(axis=2) == scores[1][:, None]
    assert rows["teacher_right"].unique() == [votes.mean()]


def test_a_class_is_drawn_as_often_as_its_teacher_thinks(scores):
    vectors = np.tile(scores[0][:1, :1], (1, 200_000, 1))
    drawn = np.bincount(soft_votes._drawn(vectors, np.random.default_rng(1))[0], minlength=4)
    assert np.abs(drawn / 200_000 - vectors[0, 0]).max() < 0.006


def test_a_lead_is_that_of_the_right_class():
    counts = np.array([[5, 3, 2], [1, 4, 5]])
    assert soft_votes._lead(counts, np.array([0, 1])).tolist() == [2, -1]


def test_without_mnist_the_digits_are_measured_and_the_reason_is_said(scores, monkeypatch, capsys):
    monkeypatch.setattr(soft_votes, "FOLDERS", ("no_such_folder",))
    monkeypatch.setattr(soft_votes, "scores_of", lambda data, teachers: scores)
    small = {"TEACHERS": (15,), "LABELS": (20,), "EPSILONS": (4.0,), "PARTS": 5}
    for name, value in small.items():
        monkeypatch.setattr(soft_votes, name, value)
    data = soft_votes.measure()
    assert set(data["data"]) == {"digits"}
    assert "MNIST is left out: no no_such_folder" in capsys.readouterr().err
    assert "| digits | 15 | 20 | 4.0 |" in soft_votes.section(data)


def test_the_page_says_what_was_measured(root):
    """docs/ballots.md: scores were never right more often, and by how much less."""
    text = " ".join((root / "docs" / "ballots.md").read_text(encoding="utf-8").split())
    low, high = -100 * PUBLISHED["difference"].max(), -100 * PUBLISHED["difference"].min()
    assert low > 0
    assert f"between {low:.1f} and {high:.1f} of 100 labels fewer" in text
    first = PUBLISHED.drop_duplicates(["data", "teachers"]).set_index(["data", "teachers"])
    mnist, digits = first.loc[("mnist", 250)], first.loc[("digits", 250)]
    assert (
        f"{mnist['soft_lead']:.1%} in place of {mnist['hard_lead']:.1%}".replace("%", " %") in text
    )
    right = f"{digits['soft_plurality']:.1%} of the queries and that of votes on "
    assert (right + f"{digits['hard_plurality']:.1%}").replace("%", " %") in text
