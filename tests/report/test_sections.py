"""What the page shows: every item can be shown, and an entry with a wrong field is refused."""

import pytest

from private_ensembles.report.html import read_caption
from private_ensembles.report.page import ASSETS
from private_ensembles.report.sections import read_sections


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
