"""The benchmark of students, at toy sizes: same labels for both, and the section."""

import numpy as np
import pytest

from benchmarks import students


@pytest.fixture
def measured(monkeypatch):
    source = np.random.default_rng(0)
    truth = source.integers(0, 10, 300)
    images = source.integers(0, 256, (300, 8, 8)).astype(np.uint8)
    released = np.where(source.random(270) < 0.9, truth[:270], (truth[:270] + 1) % 10)
    monkeypatch.setattr(students, "read", lambda: (images, truth, released, np.arange(100)))
    monkeypatch.setattr(students, "LABELS", (100, 200))
    monkeypatch.setattr(students, "EPOCHS", {"vat": 1, "gan": 3})
    monkeypatch.setattr(students, "WIDTHS", {"widths": (8,), "generator_widths": (8,)})
    return students.measure()


def test_both_students_have_the_same_labels_and_every_epoch_has_its_time(measured):
    assert measured.groupby("labels")["wrong_labels"].nunique().eq(1).all()
    for (_, student), rows in measured.groupby(["labels", "student"]):
        assert rows["epoch"].tolist() == ([1] if student == "vat" else [1, 2, 3])
        assert rows["seconds"].is_monotonic_increasing
        assert rows["accuracy"].between(0, 1).all()


def test_section_shows_where_each_training_ended(measured):
    section = students.section(measured)
    for row in measured.groupby(["labels", "student"]).tail(1).to_dict("records"):
        shown = f"| {row['student']} | {row['epoch']} | {row['accuracy']:.1%} |"
        assert shown in section


def test_without_the_files_it_says_where_they_must_be(monkeypatch):
    monkeypatch.setattr(students, "FOLDERS", ("no_such_folder",))
    with pytest.raises(ValueError, match="mnist/ and pate-2017/ must be in one of no_such_folder"):
        students.read()
