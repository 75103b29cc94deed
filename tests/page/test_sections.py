"""What the page shows: every item can be shown, and an entry with a wrong field is refused."""

import re

import pytest

from private_ensembles.page.html import read_caption
from private_ensembles.page.page import ASSETS
from private_ensembles.page.sections import read_sections


def test_every_item_has_a_caption():
    for section in read_sections(ASSETS):
        for item in section.items:
            assert read_caption(ASSETS / f"{item.caption}.rst").lead
            assert item.alt or not item.name.startswith("figure")


def test_no_paper_shows_two_items_of_one_kind_and_name():
    for section in read_sections(ASSETS):
        names = [(item.name, bool(item.alt)) for item in section.items]
        assert len(set(names)) == len(names)


def test_an_unknown_field_is_refused(tmp_path):
    item = "{name: a, title: A, caption: a, colour: red}"
    text = f"- {{paper: nzc, title: NZC, items: [{item}]}}\n"
    (tmp_path / "sections.yaml").write_text(text)
    with pytest.raises(TypeError, match="colour"):
        read_sections(tmp_path)


# What a run may bear out or not; such sentences are findings, with a condition each.
RESULTS = re.compile(
    r"every (row|panel|m|setting)\b|in no row|several times|negligible|a quarter|understates"
    r"|(falls?|rises?|grows?) (steeply|with|as|to)|lies? above|hardly|more accurate"
)


def test_captions_and_texts_say_what_is_shown_and_not_what_came_out():
    texts = {path.name: path.read_text(encoding="utf-8") for path in ASSETS.glob("*.rst")}
    for section in read_sections(ASSETS):
        for item in section.items:
            texts[f"{section.paper}/{item.name}"] = f"{item.title} {item.alt}"
    found = {name: RESULTS.findall(text) for name, text in texts.items() if RESULTS.search(text)}
    assert found == {}
