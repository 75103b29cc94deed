"""The site builds, its anchors are GitHub's, and it opens from a disk without a network."""

import html
import os
import re
import subprocess
import sys

import pytest

import private_ensembles
from private_ensembles import on_site

from . import browser

pytestmark = pytest.mark.docs

pytest.importorskip("mkdocs", reason="envs/docs.lock is not installed")


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    """The folder of the site, built as .ci/run builds it."""
    folder = tmp_path_factory.mktemp("site")
    build = ["build", "--strict", "--quiet", "--config-file", root / ".ci/mkdocs.yml"]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *build, "--site-dir", folder],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


FOLDERS = ("config", "results", "studies")


def pages(root):
    """Every page that is on the site, by its name in the repository."""
    names = ("README.md", "CONTRIBUTING.md", *(f"{name}/README.md" for name in FOLDERS))
    return [*names, *(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md"))]


def anchors_of_github(text):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_heading_has_the_anchor_that_github_gives_it(root, site):
    for name in pages(root):
        made = {
            html.unescape(anchor)
            for anchor in re.findall(r' id="([^"]+)"', (site / on_site(name)).read_text())
        }
        assert anchors_of_github((root / name).read_text(encoding="utf-8")) <= made, name


def test_no_formula_is_taken_for_emphasis(root, site):
    """In "P′_R and Q′_R" the marks are parts of names; without a backslash they are Markdown's."""
    glued = re.compile(r"[\w′″)\]]<em>|</em>[\w′″_]")
    for name in pages(root):
        assert not glued.findall((site / on_site(name)).read_text(encoding="utf-8")), name


def test_lists_tables_and_blocks_are_what_they_are_on_github(root, site):
    """No mark of Markdown is left in a paragraph."""
    left = re.compile(r"<p>(?:(?!</p>).)*?(?:\n\s*(?:- |\* |\d\. |\| )|```)", re.DOTALL)
    for name in pages(root):
        assert not left.search((site / on_site(name)).read_text(encoding="utf-8")), name


def test_nothing_is_loaded_from_elsewhere(site):
    loads = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="?(https?:)?//')
    for path in site.rglob("*.html"):
        assert not loads.search(path.read_text(encoding="utf-8")), path


def test_the_reference_has_every_public_name(site):
    page = (site / "reference.html").read_text(encoding="utf-8")
    for name in private_ensembles.__all__:
        module, attribute = private_ensembles._PUBLIC[name]
        assert f'id="private_ensembles.{module}.{attribute}"' in page
    assert "&gt;&gt;&gt; " not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium")
def test_an_opened_page_finds_what_is_searched_for(site, tmp_path):
    with browser.open_page(site / "docs" / "tutorial.html", tmp_path) as page:
        page.resize(1280)
        page.evaluate("document.querySelector('.md-search__input').focus()")
        page.call("Input.insertText", text="permute and flip")
        count = """new Promise(function look(done) {
          const said = document.querySelector(".md-search-result__meta").innerText;
          if (/matching/.test(said)) done(parseInt(said)); else setTimeout(look, 50, done);
        })"""
        assert page.evaluate(count) > 5
        assert not page.complaints
        assert all(address.startswith(("file:", "data:")) for address in page.requests)
        page.resize(400)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
