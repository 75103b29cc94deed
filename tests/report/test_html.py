"""Pieces of the page: numbers, statuses, cells and captions, all of their text escaped."""

import pandas as pd
import pytest

from private_ensembles.experiments.marks import NOT_FOR_RELEASE
from private_ensembles.report import html


@pytest.mark.parametrize(
    ("value", "text"),
    [(160.0, "160"), (15.04448, "15.044"), (0.00029, "0.00029"), (float("inf"), "∞")],
)
def test_numbers_are_written_for_reading(value, text):
    assert html.format_number(value) == text


def test_what_is_not_for_release_is_shown_as_secret():
    cells = html.html_table(pd.DataFrame({"release": [NOT_FOR_RELEASE, "free of votes"]}), "t")
    assert cells.count('<span class="secret">') == 1


def test_cells_are_escaped_and_sort_as_their_values_do():
    table = pd.DataFrame({"a": ["<b>", ""], "x": [1 / 3, float("nan")], "yes": [True, False]})
    shown = html.html_table(table, "A & B")
    assert 'aria-label="A &amp; B"' in shown
    assert "<td>&lt;b&gt;</td>" in shown
    assert f'data-sort="{1 / 3!r}">0.33333</td>' in shown
    assert shown.count("<td></td>") == 2
    assert "<td>yes</td>" in shown


def test_captions_keep_code_and_emphasis_only(tmp_path):
    (tmp_path / "a.rst").write_text("One *word*, **two** and ``code``.\n\nA <second> part.\n")
    assert html.caption_html(tmp_path / "a.rst") == (
        '<p class="caption">One <em>word</em>, <strong>two</strong> and <code>code</code>.</p>\n'
        '<p class="caption">A &lt;second&gt; part.</p>'
    )
