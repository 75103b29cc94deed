"""A CSV file's own shape; whole files are read in test_foreign."""

import numpy as np
import pytest

from private_ensembles.votes.foreign_csv import read_csv


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_any_usual_separator_line_end_and_quote(tmp_path, separator, end, quote):
    rows = [["class1", "label", "class0"], [3, 1, 0], [1, 0, 2]]
    lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    (tmp_path / "c.csv").write_text(end.join(lines), encoding="utf-8", newline="")
    matrix, labels, kind, stated = read_csv(tmp_path / "c.csv", "auto", 3)
    assert (matrix.tolist(), labels.tolist(), kind, stated) == (
        [[0, 3], [2, 1]],
        [1, 0],
        "counts",
        None,
    )


def test_many_rows_are_read_in_pieces_of_the_smallest_type(tmp_path):
    votes = np.random.default_rng(0).integers(0, 200, (1000, 3))
    np.savetxt(tmp_path / "v.csv", votes, fmt="%d", delimiter=",")
    matrix, labels, kind, _ = read_csv(tmp_path / "v.csv", "auto", 3)
    assert matrix.dtype == np.uint8
    assert np.array_equal(matrix, votes)
    assert (labels, kind) == (None, "auto")
