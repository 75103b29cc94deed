"""A chapter: how it was made, what it holds, and where it was measured."""

import pandas as pd

from benchmarks.writing import format_section


def test_a_chapter_names_its_command_its_numbers_and_its_machine():
    data = pd.DataFrame({"seconds": [1.0], "machine_cores": ["2"]})
    assert format_section("A title", "gamma", "Words.", data, "A block.") == (
        "## A title\n\n"
        "Made by `python benchmarks/run.py gamma --write-docs`; numbers behind it: "
        "[gamma.csv](gamma.csv). Words.\n\n"
        "A block.\n\n"
        "*Measured on: cores: 2.*\n"
    )
