"""The page of own votes: the choice, its cost; a rehearsal where noise is not secret."""

import re
from pathlib import Path

import pandas as pd
import pytest

from private_ensembles.labels.assumed_profile import ASSUMED_PROFILE as ASSUMED
from private_ensembles.papers.common import style
from private_ensembles.release.record import Total
from private_ensembles.report.own_page import build, profile_words
from tests import browser

TABLE = pd.DataFrame(
    {
        "mechanism": ["gnmax", "lnmax"],
        "name": ["GNMax & more", "LNMax"],
        "chosen": [True, False],
        "correct": [2.4, 1.1],
        "epsilon": [0.98765432, 1.0],
        "delta": [1e-5, 1e-5],
        "budget_epsilon": [1.0, 1.0],
        "privacy_model": "disjoint_shards",
        "adjacency": "replace_one",
        "answers": 4.0,
        "published": [1.5, float("nan")],
        "parameters": ["sigma1 = 4, sigma2 = 5.5, labels = 4", "scale = 9"],
        "not_applicable": "",
    }
)
REFUSED = TABLE.assign(chosen=False, not_applicable="for <two> only", parameters="")
CURVES = pd.DataFrame(
    {
        "over": ["labels", "labels", "epsilon", "epsilon", "labels", "epsilon"],
        "mechanism": ["gnmax"] * 4 + ["lnmax"] * 2,
        "wanted": [2, 4, 4, 4, 4, 4],
        "budget_epsilon": [1.0, 1.0, 0.5, 1.0, 1.0, 0.5],
        "correct": [1.24, 2.44, 1.96, 2.44, 1.1, 0.71],
    }
)
LABELS = pd.DataFrame({"query": [0, 1, 2], "label": [1, 0, 1]})


PROFILE = {"easy_share": 0.25, "easy": (9, 1), "hard": (1, 3), "confusion": 1.0}
FACTS = {"queries": 5, "teachers": 7, "classes": 2, "wanted": 4, "epsilon": 1.0, "delta": 1e-5}
FACTS |= {"answered": "queries are answered in the order of the file"}
TOTAL = Total(1.98765, 2e-5, "replace_one")


@pytest.fixture
def built_page(tmp_path):
    (tmp_path / "a.png").write_bytes(b"PNG")
    return (
        lambda noise, name, curves=CURVES, table=TABLE, labels=LABELS, profile=PROFILE, **stated: (
            build(
                table,
                curves,
                labels,
                FACTS | {"noise": noise} | stated,
                profile,
                figure=tmp_path / "a.png",
                labels_file=f"results/own/release/{name}",
                total=TOTAL,
                statement=Path("release/0003/statement.html") if noise == "secure" else None,
            )
        )
    )


def main_of(page):
    """What the page says, without its frame and its marks."""
    return re.sub(r"<[^>]*>", "", page.partition("<main")[2].partition("</main>")[0])


def test_few_ones_are_said(built_page):
    assert "(each votes 1 on 3 at most)" in built_page("secure", "labels.csv", most_ones=3)


def test_the_page_names_the_chosen_mechanism_and_its_cost_rounded_up(built_page):
    page = built_page("secure", "labels.csv")
    assert "Your votes: 3 labels released" in page
    # Of those that came: the plan's own number of right labels is of those that were expected.
    assert (
        "3 of 4 labels wanted; about 60 % of them expected right on the stated profile; at most ε "
        "= " in page
    )
    assert "0.98766, δ = 10⁻⁵ for all of them together, by GNMax &amp; more." in page
    assert page.count("0.98766") == 2  # once in the table
    assert "σ₁ = 4, σ₂ = 5.5, labels = 4" in page
    assert (
        "5 queries of 7 teachers, 2 classes; a budget of ε = 1, δ = 10⁻⁵; noise from the " in page
    )
    assert '<a href="labels.csv">' in page
    assert '<a href="0003/statement.html">' in page


def test_the_page_says_that_teachers_may_be_absent(built_page):
    assert "of 7 teachers (some may be absent), 2 classes" in built_page(
        "secure", "a.csv", absent=True
    )
    assert "20 % of ballots are absent." in profile_words(PROFILE | {"absent_share": 0.2})
    assert "absent" not in profile_words(PROFILE | {"absent_share": 0})


def test_the_page_says_what_fewer_labels_and_other_budgets_would_give(built_page):
    page = built_page("secure", "labels.csv")
    part = page[page.index("Fewer labels, another budget") : page.index("All mechanisms")]
    head, *body = re.findall(r"<tr>(.*?)</tr>", part, re.S)
    assert re.findall(r"<th.*?>(.*?)</th>", head) == [
        *("budget ε", "labels asked for", "GNMax", "LNMax")
    ]
    cells = [re.findall(r"<td.*?>(.*?)</td>", row) for row in body]
    assert cells == [["0.5", "4", "2", "0.7"], ["1", "2", "1.2", ""], ["1", "4", "2.4", "1.1"]]
    assert "together they cost the sum" in part


def test_what_does_not_apply_is_told_by_its_reason_and_has_no_row(built_page):
    page = built_page("secure", "labels.csv", table=pd.concat([TABLE, REFUSED]))
    assert "<li>GNMax &amp; more · LNMax: for &lt;two&gt; only</li>" in page
    assert page.count('<td title="LNMax">') == 1
    assert "Not applicable" not in built_page("secure", "labels.csv")


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs chromium")
def test_the_figure_is_as_wide_as_a_telephone_and_printed_below_what_it_is_of(built_page, tmp_path):
    with style.open_figure(size=(4.4, 9)) as (drawn, _):
        style.save_figure(drawn, tmp_path / "a.png")
    path = tmp_path / "own.html"
    path.write_text(built_page("secure", "labels.csv"), encoding="utf-8")
    side = "document.images[0].getBoundingClientRect()"
    with browser.open_page(path, tmp_path / "profile") as page:
        page.resize(400)
        assert 340 < page.evaluate(f"{side}.width") < 400
        page.call("Emulation.setEmulatedMedia", media="print")
        page.resize(688)
        # Half a sheet of A4 is 507 CSS pixels high: the rest of the first page holds the figure.
        assert 400 < page.evaluate(f"{side}.height") < 560
        assert page.complaints == []


def test_where_there_is_no_other_choice_none_is_told(built_page):
    page = built_page("secure", "labels.csv", CURVES[CURVES["budget_epsilon"] == 1.0].iloc[1:])
    assert "There is none: this is one label" in page
    assert "The lines in numbers" not in page


def test_the_page_says_what_all_releases_cost_together(built_page):
    page = built_page("secure", "labels.csv")
    assert "together cost at most ε = 1.9877, δ = 2·10⁻⁵, if one record is replaced" in page


def test_a_rehearsal_says_so_first_and_counts_for_nothing(built_page):
    page = built_page("reproducible", "rehearsal_labels.csv")
    assert "<h1>A rehearsal, not for release: 3 labels</h1>" in page
    assert page.index("the noise is from a seed") < page.index("GNMax &amp; more")
    assert "<title>A rehearsal</title>" in page
    assert '<a href="rehearsal_labels.csv">' in page
    assert "On the ledger" not in page
    assert "rehearsal" not in built_page("secure", "labels.csv").lower()


def test_the_model_is_a_sentence_and_no_code_word(built_page):
    page = built_page("secure", "labels.csv")
    assert "Holds if each record reached one teacher only. Whoever sees all labels" in page
    assert "disjoint_shards" not in page


@pytest.mark.parametrize(
    ("confusion", "says"),
    [(0.1, "nearly all go to one class"), (2, "the same few classes"), (50, "spread evenly")],
)
def test_the_profile_is_told_in_words(built_page, confusion, says):
    assert "25 % of queries are easy: there 90 % of teachers" in built_page("secure", "labels.csv")
    assert says in profile_words(PROFILE | {"confusion": confusion})
    assert "on the hard ones 25 %" in profile_words(PROFILE)


def test_a_profile_that_nobody_stated_is_called_so(built_page):
    page = built_page("secure", "labels.csv", profile=ASSUMED)
    assert page.count("an assumed profile, not yours") == 2  # the headline, and the figure's text
    assert "Assumed, not yours: 70 % of queries are easy" in page
    assert "--profile-from</code> finds yours" in page
    assert "ssumed" not in built_page("secure", "labels.csv")
