"""Tables, cells and captions of the page, all of their text escaped."""

import pandas as pd

from private_ensembles.base.digits import MORE_DIGITS
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.report import html


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
