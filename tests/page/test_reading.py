"""The pages of docs/ beside the results: anchors are there, and every link leads somewhere."""

import html
import re
from urllib.parse import unquote

import pytest

import private_ensembles
from private_ensembles import on_site
from private_ensembles.configuration.docs_pages import pages_of_docs
from private_ensembles.mechanisms import registry
from private_ensembles.page.reading import page_of, write_pages
from tests import browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    written = tmp_path_factory.mktemp("results") / "site"
    write_pages(written)
    return written


def ids(path):
    return {html.unescape(found) for found in re.findall(r' id="([^"]+)"', path.read_text())}


def test_every_link_and_picture_of_every_page_is_there(root, folder):
    names = pages_of_docs(root)
    assert len(names) > 40
    for name in names:
        page = folder / on_site(name)
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            path, _, anchor = html.unescape(link).partition("#")
            if ":" in path:
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            assert target.exists(), (name, link)
            assert not anchor or unquote(anchor) in ids(target), (name, link)


def test_what_code_names_is_there(folder):
    for entry in registry.ENTRIES:
        page, _, anchor = entry.proof.partition("#")
        assert not anchor or anchor in ids(folder / on_site(f"docs/{page}"))


def test_a_heading_that_comes_twice_has_two_anchors():
    assert re.findall(r'id="([^"]+)"', page_of("# A `b`\n\n## C\n\n## C\n")) == ["a-b", "c", "c-1"]


def test_nothing_is_written_where_the_site_is_deployed(tmp_path, monkeypatch):
    monkeypatch.setattr(private_ensembles, "SITE", "https://example.org/")
    write_pages(tmp_path / "site")
    assert list((tmp_path / "site").iterdir()) == []


@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium")
def test_a_page_opens_from_a_disk_with_its_pictures_and_fits_a_telephone(folder, tmp_path):
    with browser.open_page(folder / "docs" / "architecture.html", tmp_path) as page:
        assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        assert page.evaluate("document.images.length") > 0
        for scheme in ("light", "dark"):
            page.emulate(scheme)
            page.resize(400)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.worst_contrast()[0] >= 4.5
        assert not page.complaints
