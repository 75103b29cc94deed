"""The comparison of students at toy sizes: the same labels for both."""

import numpy as np
import pytest

from studies.gan_student.comparison import Pool, compare

SETTINGS = {"labels": [100, 200], "epochs": {"vat": 1, "gan": 3}}
SETTINGS |= {"widths": [8], "generator_widths": [8]}


@pytest.fixture(scope="module")
def measured():
    source = np.random.default_rng(0)
    truth = source.integers(0, 10, 300)
    images = source.integers(0, 256, (300, 8, 8)).astype(np.uint8)
    released = np.where(source.random(270) < 0.9, truth[:270], (truth[:270] + 1) % 10)
    pool = Pool(images, truth, released, np.arange(100), 10, 255)
    said = []
    table = compare(pool, SETTINGS, lambda *words: said.append(words))
    assert len(said) == 4
    wrong = int((released[:100] != truth[:100]).sum())
    assert set(table.loc[table["labels"] == 100, "wrong_labels"]) == {wrong}
    return table


def test_both_students_have_the_same_labels_and_every_epoch_has_its_time(measured):
    assert measured.groupby("labels")["wrong_labels"].nunique().eq(1).all()
    for (_, student), rows in measured.groupby(["labels", "student"]):
        assert rows["epoch"].tolist() == ([1] if student == "vat" else [1, 2, 3])
        assert rows["seconds"].is_monotonic_increasing
        assert rows["accuracy"].between(0, 1).all()
