"""The example of docs/add.md draws what it says."""

import re

import pandas as pd
import pytest

from tests import blocks


@pytest.mark.docs
def test_the_documented_figure_is_drawn(root, tmp_path):
    text = blocks.section(root / "docs" / "add.md", "A figure, a column, or printed numbers")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(block, names)
    data = pd.DataFrame(
        {"mechanism": ["gnmax", "gnmax", "lnmax"], "epsilon": [1, 2, 1], "correct": [3, 5, 2]}
    )
    names["draw_correct"](data, tmp_path / "figure.png", tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
