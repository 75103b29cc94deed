"""Views: each is named by the page's sections, and every name in them is one."""

from private_ensembles.page.page import ASSETS
from private_ensembles.page.sections import read_sections
from private_ensembles.page.views import VIEWS


def test_the_sections_name_every_view_and_no_other():
    named = {item.view for section in read_sections(ASSETS) for item in section.items}
    assert named - {""} == set(VIEWS)
