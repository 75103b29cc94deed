"""A student that asks in rounds: the same in parts as in whole, and what the budget's cuts cost."""

import numpy as np
import pytest

from private_ensembles.papers import active_learning
from private_ensembles.papers.active_learning import RANDOM, SESSION, SPLIT, study

SETTINGS = {"teachers": 60, "epsilon": 8, "labels": 20, "rounds": 3, "seeds": 2}


@pytest.fixture(scope="module")
def table():
    return study(SETTINGS, 1e-5, 0)


def test_each_way_has_all_rounds_and_the_noise_of_its_budget(table):
    assert list(table["asked"].unique()) == [SESSION, SPLIT, RANDOM]
    assert (table.groupby("asked")["labels"].max() == 60).all()
    sigma = table.groupby("asked")["sigma"].first()
    assert sigma[SESSION] == sigma[RANDOM]
    assert sigma[SPLIT] > 1.5 * sigma[SESSION]
    last = table[table["round"] == 3].set_index("asked")
    assert last.loc[SESSION, "accuracy"] > last.loc[SPLIT, "accuracy"]
    assert last.loc[RANDOM, "right"] > last.loc[SPLIT, "right"]
    first = table[table["round"] == 1].set_index("asked")
    assert first.loc[SESSION, "accuracy"] == first.loc[RANDOM, "accuracy"]  # the same to ask first


def test_one_split_does_not_depend_on_how_many_others_there_are(table, monkeypatch):
    alone = study(SETTINGS | {"seeds": 1}, 1e-5, 0)
    images = active_learning._images(60, 0, 0)
    again = active_learning._images(60, 0, 0)
    assert all(np.array_equal(images[name], again[name]) for name in images)
    assert alone["plurality"].iloc[0] == (images["counts"].argmax(axis=1) == images["truth"]).mean()
    assert (images["counts"].sum(axis=1) == 60).all()


def test_what_is_least_certain_is_asked_first_and_nothing_twice():
    class Student:
        def predict_proba(self, images):
            return np.stack([images[:, 0], 1 - images[:, 0]], axis=1)

    pool = np.array([[0.9], [0.5], [0.6], [0.1], [0.55]])
    known = np.array([1])
    asked = active_learning._least_certain(pool, known, Student(), 2, SESSION)
    assert asked.tolist() == [4, 2]
    assert active_learning._least_certain(pool, known, None, 2, SESSION).tolist() == [0, 2]
    assert active_learning._least_certain(pool, known, Student(), 2, RANDOM).tolist() == [0, 2]
