"""The authors' votes, as their public scripts read them: a made-up file of the same format."""

import math

import numpy as np
import pytest
from scipy import stats

from private_ensembles.papers.compare.declarations import load_paper
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp
from private_ensembles.release.files.votes_reader import read_own_votes
from private_ensembles.training.data.download import git_blob_of
from studies.authors_votes.accounting import account_votes, read_authors_votes

ORDERS = {"order_max": 30, "order_step": 0.5}
PRINTED = {"answers": 286, "order": 14, "beta": 0.0329, "sigma_ss": 6.23}
MNIST = load_paper("pate").parameters["mnist"]
SETTINGS = {"mnist": {**MNIST, "printed": PRINTED, "orders": ORDERS}}


def make_votes(queries=700, teachers=250):
    """Counts of an ensemble that mostly agrees, in another order than of how sure it is."""
    source = np.random.default_rng(0)
    share = source.beta(6, 1, queries)
    rows = [[p, *np.full(9, (1 - p) / 9)] for p in share]
    return np.array([source.multinomial(teachers, row) for row in rows])


def account(path, kind="counts", git_blob=""):
    settings = SETTINGS["mnist"] | {"n_classes": 10}
    return account_votes({"mnist": read_authors_votes(settings, path, kind, git_blob)}, SETTINGS)


def test_labels_of_teachers_are_counted_as_in_the_authors_analysis(tmp_path):
    """A row for each of 250 teachers, a column for each image, as mnist_250_teachers_labels.npy."""
    counts = make_votes()
    labels = [np.repeat(np.arange(10), row) for row in counts]
    source = np.random.default_rng(2)
    path, counted = tmp_path / "mnist_250_teachers_labels.npy", tmp_path / "counts.npy"
    np.save(path, np.array([source.permutation(column) for column in labels]).T.astype(np.int32))
    assert np.load(path).shape == (250, 700)
    np.save(counted, counts)
    found, wanted = account(path, "votes", git_blob_of(path)), account(counted)
    assert found.equals(wanted)
    with pytest.raises(ValueError, match=r"labels.npy: has git blob .* expected 0{40}; remove"):
        account(path, "votes", "0" * 40)
    np.save(path, np.load(path)[:249])
    with pytest.raises(ValueError, match=r"labels.npy: has 249 rows and 700 columns, and n_teach"):
        account(path, "votes")


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_the_first_queries_of_a_file_are_accounted_for_in_its_order(tmp_path, kind):
    counts = make_votes()
    np.save(tmp_path / "mnist_250_teachers.npy", counts.astype(kind))
    (row,) = account(tmp_path / "mnist_250_teachers.npy").to_dict("records")
    asked = counts[:640]
    chance = stats.norm.sf((200 - asked.max(axis=1)) / 150)
    assert row["answered"] == pytest.approx(chance.sum())
    assert row["answered_sd"] == pytest.approx(math.sqrt((chance * (1 - chance)).sum()))
    orders = np.arange(1.5, 30.5, 0.5)
    cost = 640 * orders / (2 * 150**2) + chance @ gnmax_rdp(asked, 40, orders)
    epsilon = cost + math.log(1e5) / (orders - 1)
    assert row["epsilon"] == pytest.approx(epsilon.min(), rel=1e-9)
    assert row["order"] == orders[epsilon.argmin()]
    assert row["rdp"] == pytest.approx(cost[epsilon.argmin()], rel=1e-9)


def test_a_threshold_that_is_hardly_in_doubt_costs_next_to_nothing_as_in_the_code(tmp_path):
    """Glyph's threshold of 1000 votes of 5000 at noise 500: most queries pass almost surely."""
    source = np.random.default_rng(1)
    counts = np.array([source.multinomial(5000, [0.7, 0.2, 0.1]) for _ in range(50)])
    np.save(tmp_path / "glyph.npy", counts)
    glyph = load_paper("pate").parameters["glyph"]
    glyph = {**glyph, "confident": {**glyph["confident"], "queries": 50}}
    settings = {"glyph": {**glyph, "printed": None, "orders": ORDERS}}
    votes = {
        "glyph": read_own_votes(tmp_path / "glyph.npy", n_classes=3, kind="counts", public=True)
    }
    (row,) = account_votes(votes, settings).to_dict("records")
    fixed = 50 * row["order"] / (2 * 500**2)
    assert row["rdp"] < fixed / 100
    assert row["epsilon"] < row["epsilon_of_the_text"]


def test_another_ensemble_or_too_few_queries_are_refused_by_name(tmp_path):
    for counts, words in (
        (make_votes(teachers=249), "mnist: the authors' votes have 249 teachers: expected 250"),
        (
            make_votes(queries=639),
            "mnist: the authors' votes have 639 queries: expected at least 640",
        ),
    ):
        np.save(tmp_path / "x.npy", counts)
        with pytest.raises(ValueError, match=words):
            account(tmp_path / "x.npy")
    uneven = make_votes()
    uneven[5, 0] += 1
    np.save(tmp_path / "x.npy", uneven)
    with pytest.raises(ValueError, match=r"x\.npy: "):
        account(tmp_path / "x.npy")
