"""The benchmark of teachers' epochs, at toy sizes: the same teachers both ways, and a true page."""

import numpy as np
import pytest

from benchmarks import teacher_epochs


@pytest.fixture
def measured(monkeypatch):
    """Images whose class is where they are bright."""
    source = np.random.default_rng(0)
    labels = source.integers(0, 10, 600).astype(np.uint8)
    images = source.integers(0, 100, (600, 16, 16)).astype(np.uint8)
    images[np.arange(600), labels] = 255
    monkeypatch.setattr(teacher_epochs, "read", lambda: (images, labels))
    ways = teacher_epochs.settings()[250]
    monkeypatch.setattr(teacher_epochs, "settings", lambda: {250: ways})
    return teacher_epochs.measure(quick=True)


def test_ways_are_those_of_the_configuration_and_of_before():
    found = teacher_epochs.settings()
    assert list(found) == list(teacher_epochs.EARLIER)
    assert all(ways["now"]["learning_rate_schedule"] == "linear" for ways in found.values())
    assert all("learning_rate_schedule" not in ways["earlier"] for ways in found.values())
    assert all(ways["now"]["epochs"] < ways["earlier"]["epochs"] for ways in found.values())


def test_both_ways_are_measured_and_learn(measured):
    assert measured["way"].tolist() == ["earlier", "now"]
    assert (measured["accuracy"] > 0.5).all()
    assert measured["gap"].between(0, 1).all()
    assert (measured["seconds"] > 0).all()


def test_page_says_every_row_and_what_a_run_takes(measured):
    page = teacher_epochs.page(measured)
    for row in measured.to_dict("records"):
        assert f"| {row['way']} | {row['epochs']} | {100 * row['accuracy']:.2f} %" in page
    assert f"{250 * measured['seconds'].iloc[1]:,.0f} s (now)." in page


def test_without_the_files_it_says_where_they_must_be(monkeypatch):
    monkeypatch.setattr(teacher_epochs, "FOLDERS", ("no_such_folder",))
    with pytest.raises(ValueError, match="mnist/ must be in one of no_such_folder"):
        teacher_epochs.read()
