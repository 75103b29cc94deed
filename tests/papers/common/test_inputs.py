"""What an experiment is handed: votes, contents of JSON and rows of tables, by name."""

import numpy as np
import pytest

from private_ensembles.labels.votes import Votes, write_votes
from private_ensembles.papers.common.inputs import read_inputs


def test_files_are_read_as_their_suffix_says(tmp_path):
    votes = Votes(2, np.array([0, 1], np.int64), np.array([[0, 1, 1], [1, 1, 0]], np.uint8))
    write_votes(tmp_path / "votes.npz", votes)
    (tmp_path / "gamma.json").write_text('{"gamma": [0, 1]}')
    (tmp_path / "sigma.csv").write_text("quantity,value\nsigma_rdp,0.1\n")
    found = read_inputs(
        {
            "private_0": str(tmp_path / "votes.npz"),
            "gamma": str(tmp_path / "gamma.json"),
            "sigma": str(tmp_path / "sigma.csv"),
        }
    )
    assert found["private_0"].n_teachers == 3
    assert found["gamma"] == {"gamma": [0, 1]}
    assert found["sigma"] == [{"quantity": "sigma_rdp", "value": "0.1"}]


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"x\.txt: must end in"):
        read_inputs({"x": tmp_path / "x.txt"})
