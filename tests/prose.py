"""What a page in docs says beside what the tables in docs hold."""

import math
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def published(name, **options):
    return pd.read_csv(ROOT / "docs" / f"{name}.csv", **options)


def words_of(page):
    """The text of a page, without line breaks, which say nothing."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def assert_says(page, words):
    """PAGE has these words; a failure shows them, so that they can be put there."""
    assert words in words_of(page), f"{page} should say: {words}"


def table_of(page, heading):
    """The cells of the table in PAGE that is headed so, by rows, without its own head."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(heading)[2]
    lines = text.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def upwards(epsilon, digits):
    """An upper bound in words stays one."""
    return f"{math.ceil(round(epsilon * 10**digits, 6)) / 10**digits:.{digits}f}"
