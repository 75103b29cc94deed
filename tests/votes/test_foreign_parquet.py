"""Votes in Parquet, as pandas and Arrow write them."""

import sys

import numpy as np
import pytest

from private_ensembles.jobs.io import describe
from private_ensembles.votes.foreign import read_own_votes
from private_ensembles.votes.foreign_columns import Stated

VOTES = np.array([[0, 2, 2, 1], [1, 1, 1, 1], [2, 0, 0, 0]])
COUNTS = np.array([[1, 1, 2], [0, 4, 0], [3, 0, 1]])


@pytest.fixture
def frames():
    return pytest.importorskip("pandas")


@pytest.mark.parametrize("index", [None, ["x", "y", "z"]])
@pytest.mark.parametrize("name", [None, "id"])
def test_what_pandas_writes_is_read_with_its_index_as_identifiers(tmp_path, frames, index, name):
    frame = frames.DataFrame(VOTES, columns=list("abcd"), index=index)
    if index is not None:
        frame.index.name = name
    frame.to_parquet(tmp_path / "v.parquet")
    found = read_own_votes(tmp_path / "v.parquet", n_classes=3)
    assert found.votes.tolist() == VOTES.tolist()
    assert found.ids == (None if index is None else ("x", "y", "z"))


def test_counts_and_categories_are_read(tmp_path, frames):
    counts = frames.DataFrame(COUNTS[:, [2, 0, 1]], columns=["class2", "class0", "class1"])
    counts.to_parquet(tmp_path / "c.parquet")
    found = read_own_votes(tmp_path / "c.parquet", n_classes=3)
    assert found.histogram().tolist() == COUNTS.tolist()
    names = ("cat", "dog", "bird")
    words = frames.DataFrame(np.array(names)[VOTES], columns=list("abcd")).astype("category")
    words.to_parquet(tmp_path / "w.parquet")
    assert (
        read_own_votes(tmp_path / "w.parquet", class_names=names).votes.tolist() == VOTES.tolist()
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [0, None], "b": [1, 1]}, "column 'a', row 1 is empty"),
        ({"a": [0.5, 1.0], "b": [1, 1]}, "is 0.5: must be a whole number"),
        ({"a": [0, 1], "b": ["cat", "dog"]}, "columns 'a' and 'b' hold numbers and texts"),
        ({"a": [True, False], "b": [1, 1]}, "column 'a' has type bool: must be whole numbers or"),
        ({"a": ["cat", "dog"], "b": ["cat", "dog"]}, "or say class_names=NAME,NAME,..."),
        ({"id": [1, 1], "a": [0, 1], "b": [0, 1]}, "rows 0 and 1 have the identifier '1'"),
    ],
)
def test_other_columns_are_refused_in_one_line(tmp_path, columns, message):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table(columns), tmp_path / "v.parquet")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(tmp_path / "v.parquet", n_classes=3)
    assert str(caught.value).startswith(str(tmp_path / "v.parquet"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_parquet_and_what_memory_does_not_hold_is_refused(tmp_path, frames):
    from private_ensembles.votes.foreign_parquet import read_parquet

    (tmp_path / "v.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match="not a readable Parquet file: ") as caught:
        read_own_votes(tmp_path / "v.parquet", n_classes=3)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        read_own_votes(tmp_path / "gone.parquet", n_classes=3)
    frames.DataFrame(VOTES, columns=list("abcd")).to_parquet(tmp_path / "v.parquet")
    asked = []
    read_parquet(tmp_path / "v.parquet", Stated(3), lambda *sizes: asked.append(sizes))
    assert asked == [(3, 3, 96)]


def test_without_the_extra_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError) as caught:
        read_own_votes(tmp_path / "v.parquet", n_classes=3)
    assert "pip install '.[workflow]'" in describe(caught.value)


@pytest.mark.parametrize("words", [False, True])
def test_nulls_are_absent_ballots(tmp_path, frames, words):
    """As pandas writes them: of whole numbers, floats, texts, and a teacher who never voted."""
    names = ("cat", "dog", "bird")
    votes = np.where(np.arange(12).reshape(3, 4) % 4 == 3, -1, VOTES)
    votes[1, 0] = -1
    cells = [[None if v < 0 else names[v] if words else int(v) for v in row] for row in votes]
    for kind in ["object"] if words else ["float64", "Int16", "object"]:
        frame = frames.DataFrame(cells, columns=list("abcd")).astype(kind)
        frame.to_parquet(tmp_path / "v.parquet")
        options = {"class_names": names if words else None}
        found = read_own_votes(tmp_path / "v.parquet", n_classes=3, absent=True, **options)
        assert found.votes.tolist() == votes.tolist()
        with pytest.raises(
            ValueError, match="column 'a', row 1 is empty; if ballots may be absent"
        ):
            read_own_votes(tmp_path / "v.parquet", n_classes=3, **options)


def test_absent_counts_have_no_nulls(tmp_path, frames):
    frame = frames.DataFrame(COUNTS, columns=["class0", "class1", "class2"])
    frame.to_parquet(tmp_path / "c.parquet")
    options = {"n_classes": 3, "absent": True, "teachers": 6}
    found = read_own_votes(tmp_path / "c.parquet", **options)
    assert found.histogram().tolist() == np.add(COUNTS, [1, 1, 0]).tolist()
    frame.astype("Int64").where(frame != 4).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match=r"column 'class1', row 1 is empty$"):
        read_own_votes(tmp_path / "c.parquet", **options)
