"""docs/api.md: every example runs as printed, and every public name has a section."""

import pytest

import private_ensembles

from .blocks import run_examples

pytestmark = pytest.mark.docs


def test_the_examples_give_what_the_page_says(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert run_examples(text, "docs/api.md") > 15


def test_every_public_name_is_on_it_and_in_a_heading(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    headed = {
        name
        for line in text.splitlines()
        if line.startswith("## ")
        for name in line[3:].split(", ")
    }
    assert headed == set(private_ensembles.__all__)
