"""Every status has a sign of its own, a colour on the page, and one meaning there and in docs."""

import re

import pytest

from private_ensembles.papers.compare.statuses import STATUSES


def test_signs_differ():
    assert len({status.sign for status in STATUSES.values()}) == len(STATUSES)


@pytest.mark.parametrize("name", STATUSES)
def test_the_page_and_the_documentation_know_every_status(name, root):
    css = (root / "workflow" / "report" / "page.css").read_text(encoding="utf-8")
    assert all(f"{place}{name} " in css or f"{place}{name}," in css for place in (".bar .", "td."))
    documented = (root / "docs" / "reproduce.md").read_text(encoding="utf-8")
    (meaning,) = re.findall(rf"^\| `{name}` \| (.*) \|$", documented, re.MULTILINE)
    assert re.sub(r"\[(.*?)\]\(.*?\)", r"\1", meaning).startswith(STATUSES[name].meaning)
