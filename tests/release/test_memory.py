"""How much memory votes take on their way to labels, beside what a small release takes.

Each file is read, and released from, in a process of its own, after a small file of the same kind,
so that modules and their tables are there before it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels import release_gate

# 16 million cells: 16 MB as votes, 128 MB as the numbers that files hold or that laws take.
SIZE = 200_000, 80
# As counts, 16 million are of few queries and many classes.
MANY_CLASSES = 160, 100_000
GROWTH = r"""
import json, re, sys
from pathlib import Path
import numpy as np
from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels import release_gate
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.release.files.votes_reader import read_own_votes

def release(path, stated):
    votes = read_own_votes(path, **stated)
    noise = GaussianNoise(40.0, 500)
    source = SeededNoise(np.random.default_rng(0))
    release_gate.release_from_votes(load_mechanism("gnmax"), votes, noise, source)
    # `getrusage` would count what the process that started this one holds.
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])

small, large, stated = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
before = release(small, stated)
print((release(large, stated) - before) / 1024)
"""


def _write(path: Path, votes: np.ndarray, order: str = "C") -> str:
    wide = np.asarray(votes, np.int64, order=order)
    if path.suffix == ".npy":
        np.save(path, wide)
    elif path.suffix == ".npz":
        np.savez_compressed(path, counts=wide)
    elif path.suffix == ".parquet":
        names = [f"teacher{column}" for column in range(votes.shape[1])]
        pd.DataFrame(wide, columns=names).to_parquet(path)
    else:  # digits and what stands between them, as bytes
        text = np.full((len(votes), 2 * votes.shape[1]), ord(","), np.uint8)
        text[:, ::2] = votes + ord("0")
        text[:, -1] = ord("\n")
        path.write_bytes(text.tobytes())
    return str(path)


def _growth(small: str, large: str, **stated) -> float:
    """Return the MiB by which the peak memory grew when the large file was released from."""
    package = str(Path(release_gate.__file__).parents[2])
    completed = subprocess.run(
        [sys.executable, "-c", GROWTH, small, large, json.dumps(stated)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": package, "OMP_NUM_THREADS": "1"},
    )
    return float(completed.stdout)


@pytest.mark.parametrize(
    ("ending", "order"), [(".csv", "C"), (".npy", "C"), (".npy", "F"), (".parquet", "C")]
)
def test_votes_take_little_more_memory_than_their_bytes(tmp_path, ending, order):
    votes = np.random.default_rng(0).integers(0, 10, SIZE, np.uint8)
    small = _write(tmp_path / f"small{ending}", votes[:1000], order)
    large = _write(tmp_path / f"large{ending}", votes, order)
    stated = {"n_classes": 10, "teachers": SIZE[1], "kind": "votes"}
    assert _growth(small, large, **stated) < 56


def test_counts_of_many_classes_take_little_more_memory_than_their_bytes(tmp_path):
    counts = np.zeros(MANY_CLASSES, np.uint8)
    counts[:, :125] = 2
    small = _write(tmp_path / "small.npz", counts[:2])
    large = _write(tmp_path / "large.npz", counts)
    stated = {"n_classes": MANY_CLASSES[1], "teachers": 250, "kind": "counts"}
    assert _growth(small, large, **stated) < 90
