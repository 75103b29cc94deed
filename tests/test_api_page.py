"""docs/api.md: every example runs as printed, and every public name has a section."""

import doctest
import re

import private_ensembles


def test_the_examples_give_what_the_page_says(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    unfenced = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    page = doctest.DocTestParser().get_doctest(unfenced, {}, "api.md", "docs/api.md", 0)
    assert len(page.examples) > 15
    said = []
    doctest.DocTestRunner().run(page, out=said.append)
    assert not said, "".join(said)


def test_every_public_name_is_on_it_and_in_a_heading(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    headed = {
        name
        for line in text.splitlines()
        if line.startswith("## ")
        for name in line[3:].split(", ")
    }
    assert headed == set(private_ensembles.__all__)
