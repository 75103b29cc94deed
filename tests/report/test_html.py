"""Tables, cells, captions and templates: what is not markup is escaped, one known script runs."""

import base64
import hashlib
import re

import pandas as pd
import pytest
from jinja2 import UndefinedError, meta

from private_ensembles.base.digits import MORE_DIGITS
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.report import html
from private_ensembles.report.html import inline_html
from private_ensembles.report.page import (
    ASSETS,
    TEMPLATES,
    page,
    pieces,
)


def test_a_printed_number_that_is_not_compared_with_ours_has_no_status():
    shown = html.cell("printed epsilon", "2.52*", {}, numeric=True)
    assert shown == ("2.52*", {"class": "number", "data-sort": "2.52"})
    assert "✓" in html.cell("printed epsilon", "2.52", {}, numeric=True).content


def test_what_is_not_for_release_is_shown_as_secret():
    cells = html.html_table(pd.DataFrame({"release": [NOT_FOR_RELEASE, "free of votes"]}), "t")
    assert cells.count('<span class="secret">') == 1


def test_cells_are_escaped_and_sort_as_their_values_do():
    table = pd.DataFrame({"a": ["<b>", ""], "x": [1 / 3, float("nan")], "yes": [True, False]})
    shown = html.html_table(table, "A & B")
    assert 'aria-label="A &amp; B"' in shown
    assert "<td>&lt;b&gt;</td>" in shown
    assert f'data-sort="{1 / 3!r}">0.3333</td>' in shown
    assert shown.count("<td></td>") == 2
    assert "<td>yes</td>" in shown


def test_a_caption_shows_its_first_sentence_and_folds_the_others(tmp_path):
    (tmp_path / "a.rst").write_text("First *epsilon_total*. Second.\n\nThird <b>.\n")
    lead, rest = html.read_caption(tmp_path / "a.rst")
    assert lead == "First <em>ε total</em>."
    assert rest == ["Second.", "Third &lt;b&gt;."]
    (tmp_path / "b.rst").write_text("Only this.\n")
    assert html.read_caption(tmp_path / "b.rst") == ("Only this.", [])


def test_long_texts_that_occur_twice_stand_below_the_table_once():
    text = "A sentence of more than forty characters, said twice."
    shown = html.html_table(pd.DataFrame({"note": [text, text, "short"]}), "t")
    assert shown.count(text) == 1
    assert shown.count('data-note="1"') == 2
    assert "<td>short</td>" in shown
    # What tells rows apart stays where it is.
    assert html.html_table(pd.DataFrame({"setting": [text, text]}), "t").count(text) == 2


def test_headings_have_greek_letters_and_the_column_s_own_name():
    shown = html.html_table(pd.DataFrame({"epsilon_total": [1.0]}), "t")
    assert 'title="epsilon_total">ε total</th>' in shown


def test_a_number_beside_a_printed_one_is_as_long_as_that():
    table = pd.DataFrame({"a": [1.23456], "printed a": ["1.2346"], "b": [1.23456]})
    shown = html.html_table(table, "t")
    assert ">1.2346</td><td" in shown
    assert ">1.235</td>" in shown


def test_a_long_table_scrolls_below_its_heading_and_a_wide_one_is_printed_across():
    assert 'class="scroll tall"' in html.html_table(pd.DataFrame({"a": range(30)}), "t")
    assert 'class="scroll"' in html.html_table(pd.DataFrame({"a": range(3)}), "t")
    many = pd.DataFrame({str(i): [0] for i in range(13)})
    assert 'class="table wide"' in html.html_table(many, "t")


def test_a_mechanism_and_a_data_set_have_their_real_names():
    named = html.cell("mechanism", "gnmax_analytic", {}, numeric=False)
    assert named == ("GNMax, analytic σ", {"title": "gnmax_analytic"})
    marked = html.cell("task", "adult (stand-in)", {}, numeric=False)
    assert marked.content == 'UCI Adult <span class="standin">stand-in</span>'
    assert "&lt;b&gt;" in html.cell("task", "<b> (synthetic)", {}, numeric=False).content


def test_a_long_text_that_stands_below_the_table_is_a_number_here():
    assert html.cell("note", "long", {"long": 3}, numeric=False) == ("note 3", {"data-note": 3})


def test_losses_are_rounded_up_and_other_numbers_to_the_nearest():
    assert html.cell("accuracy", 0.12341, {}, numeric=True).content == "0.1234"
    assert html.cell("proven_epsilon", 0.12341, {}, numeric=True).content == "0.1235"
    assert html.cell("lower_epsilon", 0.12341, {}, numeric=True).content == "0.1234"
    # Beside a printed number, as that is.
    assert html.cell("epsilon", 0.123411, {}, MORE_DIGITS, numeric=True).content == "0.12341"


def test_the_page_holds_its_style_and_a_title_that_is_escaped():
    made = page("page.html", "A < B", rail={"a": "<b>"})
    assert "<title>A &lt; B</title>" in made
    assert '<li><a href="#a">&lt;b&gt;</a></li>' in made
    assert (ASSETS / "page.css").read_text(encoding="utf-8") in made


def test_the_only_script_that_may_run_is_the_one_inside():
    made = page("page.html", "t")
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in made
    assert "default-src 'none'" in made


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError, match="headline"):
        page("index.html", "t")


def reached(name):
    """The templates that one needs, by name, with itself."""
    source = TEMPLATES.loader.get_source(TEMPLATES, name)[0]
    needed = meta.find_referenced_templates(TEMPLATES.parse(source))
    return {name}.union(*map(reached, needed))


# Those that Python calls are beside the page's own.
@pytest.mark.parametrize(
    ("rules", "pages"),
    [
        ("report.smk", ["index.html", "views.html", "charts.html"]),
        ("release.smk", ["own.html"]),
    ],
)
def test_the_rule_of_a_page_counts_every_template_that_it_needs(root, rules, pages):
    text = (root / "workflow" / "rules" / rules).read_text(encoding="utf-8")
    (listed,) = re.findall(r"\*templates\(([^)]*)\)", text)
    counted = {f"{name}.html" for name in re.findall(r'"(\w+)"', listed)}
    assert counted == {"pieces.html"}.union(*map(reached, pages))


def test_text_keeps_code_and_emphasis_only():
    assert inline_html("One *word*, **two** and ``code``; a <second> *epsilon_total*.") == (
        "One <em>word</em>, <strong>two</strong> and <code>code</code>; a &lt;second&gt; "
        "<em>ε total</em>."
    )


def test_files_outside_the_page_are_no_links_before_the_script_made_them(tmp_path):
    named = pieces.file(tmp_path / 'a "b".csv', tmp_path)
    assert named == '<a class="file" data-href="a%20%22b%22.csv">a &#34;b&#34;.csv</a>'


def test_an_unknown_status_is_one_that_was_not_run():
    assert 'class="status not_run"' in pieces.status("<odd>")
    assert "&lt;odd&gt;" in pieces.status("<odd>")
    assert "3 match" in pieces.status("match", 3)
