"""Where the paper's data are, and one line for whoever lacks them."""

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def paper_data():
    """The folder with mnist/ and fashion-mnist/; skips the test where it is absent."""
    folder = Path(os.environ.get("PRIVATE_ENSEMBLES_DATA") or SHARED)
    if not (folder / "mnist").is_dir():
        pytest.skip(f"no {folder}/mnist: set PRIVATE_ENSEMBLES_DATA to a folder with the data")
    return folder
