"""Every status has a sign of its own, a colour on the page and a meaning in docs."""

import pytest

from private_ensembles.published.statuses import STATUSES


def test_signs_differ():
    assert len({status.sign for status in STATUSES.values()}) == len(STATUSES)


@pytest.mark.parametrize("name", STATUSES)
def test_the_page_and_the_documentation_know_every_status(name, root):
    css = (root / "workflow" / "report" / "page.css").read_text(encoding="utf-8")
    assert all(f"{place}{name} " in css or f"{place}{name}," in css for place in (".bar .", "td."))
    assert f"| `{name}` |" in (root / "docs" / "reproduce.md").read_text(encoding="utf-8")
