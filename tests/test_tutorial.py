"""docs/tutorial.md: examples run as printed, pictures are theirs, the formula comes late."""

import re
import runpy

import numpy as np
import pytest

from .blocks import run_examples

pytestmark = pytest.mark.docs

NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_the_examples_give_what_the_page_says(text):
    assert run_examples(text, "docs/tutorial.md") > 30


def test_the_pictures_are_drawn_from_the_examples(text, root, tmp_path):
    pictures = sorted((root / "docs" / "tutorial").glob("*.svg"))
    assert {picture.name for picture in pictures} == set(re.findall(r"\(tutorial/(.*?)\)", text))
    runpy.run_path(str(root / "docs" / "tutorial" / "draw.py"))["main"](tmp_path)
    for picture in pictures:
        kept, drawn = (
            re.sub(r"Matplotlib v\S+", "", folder.joinpath(picture.name).read_text("utf-8"))
            for folder in (picture.parent, tmp_path)
        )
        # Coordinates in points; another processor or library may round the last digits elsewhere.
        numbers = [np.array(re.findall(NUMBER, drawing), dtype=float) for drawing in (kept, drawn)]
        assert re.sub(NUMBER, "", kept) == re.sub(NUMBER, "", drawn), picture.name
        np.testing.assert_allclose(*numbers, atol=0.02, err_msg=picture.name)


def test_there_is_no_formula_before_the_fourth_part(text):
    before = text.partition("\n## 4. ")[0]
    prose = re.sub(r"```python.*?```", "", before, flags=re.DOTALL)
    assert not re.search(r"≤|\^|Pr\[|ε", prose)
