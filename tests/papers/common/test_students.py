"""Students of a data set: who sees what, and what is reported of them."""

import numpy as np
import pytest

from private_ensembles.base.files import write_npz
from private_ensembles.papers.common.students import (
    BASELINE,
    identify_student,
    map_to_first_identical,
    read_inputs,
    read_labels,
    run_student,
)
from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.tabular import TabularDataset

POOL = 40
NETWORK = {"epochs": 2, "widths": (4, 4, 4), "unlabelled_batch_size": 20}
SETTINGS = {
    "images": {"method": "vat", "pool": POOL, "parameters": NETWORK},
    "records": {"method": "forest", "pool": POOL, "parameters": {"n_trees": 5}},
}


def images(test_labels=None):
    """60 training and 70 test images of two classes: bright on the left or on the right."""
    source = np.random.default_rng(0)
    labels = source.integers(2, size=130).astype(np.uint8)
    pictures = source.integers(0, 4, (130, 8, 8)).astype(np.uint8)
    pictures[labels == 0, :, :4] += 10
    pictures[labels == 1, :, 4:] += 10
    truth = labels[60:] if test_labels is None else test_labels
    return LabelledImages("small", pictures[:60], labels[:60], pictures[60:], truth, 16, 2)


def records(test_labels=None):
    """The same as a table: mean brightness of both halves."""
    data = images(test_labels)
    halves = [
        np.stack([part[:, :, :4].mean((1, 2)), part[:, :, 4:].mean((1, 2))], 1).astype(np.float32)
        for part in (data.train_images, data.test_images)
    ]
    ends = np.zeros(2, np.float32), np.full(2, 16, np.float32)
    names = np.array(["left", "right"])
    return TabularDataset(
        "small", halves[0], data.train_labels, halves[1], data.test_labels, names, *ends, 2
    )


MAKERS = {"images": images, "records": records}


@pytest.fixture
def inputs(tmp_path):
    def read(kind, test_labels=None):
        write_dataset(tmp_path / f"{kind}.npz", MAKERS[kind](test_labels))
        return read_inputs(tmp_path / f"{kind}.npz")

    return read


def released(share=0.6):
    """Queries in an order of their own, and labels, some of them without an answer."""
    source = np.random.default_rng(3)
    queries = source.permutation(POOL)[:30]
    truth = images().test_labels[queries].astype(np.int64)
    return queries, np.where(source.random(30) < share, truth, -1)


def run(data, kind, labels=None, seed=0, **more):
    labels = released() if labels is None else labels
    return run_student(*data, labels, SETTINGS[kind], seed=seed, path=("small", "student"), **more)


@pytest.mark.parametrize("kind", MAKERS)
def test_inputs_are_those_of_the_file(inputs, kind):
    arrays, facts = inputs(kind)
    data = MAKERS[kind]()
    for part in ("train", "test"):
        stored = getattr(data, f"{part}_{'images' if kind == 'images' else 'features'}")
        assert np.array_equal(arrays[part], stored)
        assert np.array_equal(arrays[f"{part}_labels"], getattr(data, f"{part}_labels"))
    assert facts == {"n_classes": 2} | ({"pixel_max": 16} if kind == "images" else {})


def test_a_file_that_is_neither_is_named(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(1))
    with pytest.raises(ValueError, match=r"other\.npz: lacks"):
        read_inputs(tmp_path / "other.npz")


@pytest.mark.parametrize("kind", MAKERS)
def test_student_is_evaluated_beyond_the_pool(inputs, kind):
    data = inputs(kind)
    student, summary, history = run(data, kind)
    truth = data[0]["test_labels"][POOL:]
    scores = student.scores(data[0]["test"][POOL:])
    correct = int((scores.argmax(axis=1) == truth).sum())
    assert summary == {
        "labels": int((released()[1] >= 0).sum()),
        "accuracy": correct / 30,
        "correct": correct,
        "evaluated": 30,
    }
    epochs = [1, 2] if kind == "images" else []
    assert [row["epoch"] for row in history] == epochs
    if epochs:
        assert history[-1]["accuracy"] == summary["accuracy"]
    assert run(data, kind, watched=False)[1:] == (summary, [])


@pytest.mark.parametrize("kind", MAKERS)
def test_student_does_not_depend_on_what_it_is_not_given(inputs, kind):
    """Other labels of the evaluation, and other private data, make the same student."""
    data = inputs(kind)
    student, _, _ = run(data, kind)
    flipped = 1 - images().test_labels
    other = inputs(kind, flipped)
    other[0]["train"] = other[0]["train"][::-1].copy()
    other[0]["train_labels"] = 1 - other[0]["train_labels"]
    twin, summary, _ = run(other, kind)
    inputs_of_all = data[0]["test"]
    assert np.array_equal(student.scores(inputs_of_all), twin.scores(inputs_of_all))
    assert summary["accuracy"] == pytest.approx(1 - run(data, kind)[1]["accuracy"])


def test_a_query_without_an_answer_teaches_a_forest_nothing(inputs):
    data, (queries, labels) = inputs("records"), released()
    student, _, _ = run(data, "records")
    answered = labels >= 0
    few, _, _ = run(data, "records", (queries[answered], labels[answered]))
    assert np.array_equal(student.scores(data[0]["test"]), few.scores(data[0]["test"]))


@pytest.mark.parametrize(("kind", "method"), [("images", "supervised"), ("records", "forest")])
def test_baseline_has_all_private_data_and_is_evaluated_on_the_same_part(inputs, kind, method):
    data = inputs(kind)
    settings = SETTINGS[kind] | {"method": method}
    student, summary, _ = run_student(*data, None, settings, seed=0, path=("small", "baseline"))
    assert summary["labels"] == 60
    assert summary["evaluated"] == 30
    if kind == "records":
        assert summary["accuracy"] >= 0.9
    # It does not see the pool.
    other = inputs(kind)
    other[0]["test"][:POOL] = 0
    twin, _, _ = run_student(*other, None, settings, seed=0, path=("small", "baseline"))
    held_out = data[0]["test"][POOL:]
    assert np.array_equal(student.scores(held_out), twin.scores(held_out))


def test_students_of_other_seeds_and_paths_differ(inputs):
    data = inputs("images")
    scores = [
        student.scores(data[0]["test"])
        for student, _, _ in (
            run(data, "images"),
            run(data, "images", seed=1),
            run_student(
                *data, released(), SETTINGS["images"], seed=0, path=("small", "student", 1)
            ),
        )
    ]
    assert not np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_labels_of_one_aggregator_or_of_all_are_read_by_name(tmp_path):
    arrays = {"lnmax-2_queries": [3, 1], "lnmax-2_labels": [0, -1]}
    arrays |= {"confident_queries": [3], "confident_labels": [1]}
    write_npz(tmp_path / "labels.npz", **arrays)
    both = read_labels(tmp_path / "labels.npz")
    assert list(both) == ["lnmax-2", "confident"]
    assert [part.tolist() for part in both["lnmax-2"]] == [[3, 1], [0, -1]]
    assert list(read_labels(tmp_path / "labels.npz", "confident")) == ["confident"]


def test_without_labels_there_is_the_baseline(tmp_path):
    assert read_labels(None) == {BASELINE: None}


def test_one_student_serves_all_whose_labels_are_the_same():
    queries = np.arange(3)
    released = {
        "nzc": (queries, np.array([1, 0, 2])),
        "few": (queries, np.array([1, 0, 1])),
        "clean": (queries.copy(), np.array([1, 0, 2])),
        "others": (queries + 1, np.array([1, 0, 2])),
        "shorter": (queries[:2], np.array([1, 0])),
    }
    names = dict(zip(released, ["nzc", "few", "nzc", "others", "shorter"], strict=True))
    assert map_to_first_identical(released) == names
    assert map_to_first_identical({BASELINE: None}) == {BASELINE: BASELINE}


def test_a_student_s_row_and_stream_say_which_it_is():
    assert identify_student("confident", "svhn", 2) == (
        {"task": "svhn", "aggregator": "confident", "student_seed": 2},
        ("confident", "student", 2),
    )
    assert identify_student(BASELINE, "svhn", 2) == (
        {"task": "svhn", "student_seed": 2},
        (BASELINE, 2),
    )
