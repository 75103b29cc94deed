"""Templates: what is not markup is escaped; a page loads nothing and runs one known script."""

import base64
import hashlib
import re

import pytest
from jinja2 import UndefinedError, meta

from private_ensembles.report.html import inline_html
from private_ensembles.report.page import (
    ASSETS,
    TEMPLATES,
    page,
    pieces,
)


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
